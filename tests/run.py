"""Runs the steps in tests/steps and ends with one line: N passed, N failed, N skipped."""

import argparse
import secrets
import sys
import time

from steps import checks, compile_fail, examples, fuzz, llvm, oracle, package, sanitizers, units
from steps.core import Case, Settings, Status, Step

STEPS: list[Step] = [
    *checks.STEPS,
    *units.STEPS,
    *llvm.STEPS,
    *compile_fail.STEPS,
    *package.STEPS,
    *examples.STEPS,
    *fuzz.STEPS,
    *oracle.STEPS,
    *sanitizers.STEPS,
]


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="name the steps and stop")
    parser.add_argument("--only", action="append", metavar="STEP", help="run these steps only")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1 << 31), help="seed of the fuzz runs")
    return parser.parse_args()


def show(case: Case, seconds: float) -> None:
    counts = ", ".join(f"{count} {status.value}" for status, count in case.counts.items() if count)
    note = f" ({case.note})" if case.note else ""
    print(f"{case.status.value:8}{case.name:36}{seconds:7.1f} s  {counts}{note}", flush=True)
    if case.status is Status.FAILED:
        print("\n".join(f"    {line}" for line in case.log.strip().splitlines()[-40:]), flush=True)


def main() -> int:
    chosen = options()
    steps = [step for step in STEPS if not chosen.only or step.name in chosen.only]
    if chosen.list:
        print("\n".join(f"{step.name:16} {step.run.__doc__}" for step in STEPS))
        return 0
    settings = Settings(seed=chosen.seed)
    total = dict.fromkeys(Status, 0)
    for step in steps:
        start = time.monotonic()
        for case in step.cases(settings):
            show(case, time.monotonic() - start)
            for status, count in case.counts.items():
                total[status] += count
            start = time.monotonic()
    print(", ".join(f"{count} {status.value}" for status, count in total.items()))
    return 1 if total[Status.FAILED] or not total[Status.PASSED] else 0


if __name__ == "__main__":
    sys.exit(main())
