"""Runs the steps in tests/steps side by side and ends with one line: N passed, N failed, N skipped."""

import argparse
import os
import secrets
import signal
import sys
from collections.abc import Sequence

from steps import aarch64, builds, checks, compile_fail, cuda, examples, fuzz, llvm, oracle, package, sanitizers, tiles, units
from steps.core import Case, Job, Settings, Status, Step, children
from steps.schedule import Schedule

STEPS: list[Step] = [
    *checks.STEPS,
    *builds.STEPS,
    *units.STEPS,
    *llvm.STEPS,
    *compile_fail.STEPS,
    *cuda.STEPS,
    *package.STEPS,
    *examples.STEPS,
    *fuzz.STEPS,
    *oracle.STEPS,
    *aarch64.STEPS,
    *tiles.STEPS,
    *sanitizers.STEPS,
]


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="name the steps and stop")
    parser.add_argument(
        "--only",
        action="append",
        metavar="STEP",
        choices=[step.name for step in STEPS],
        help="run these steps only, and the builds that they need",
    )
    parser.add_argument("--all", action="store_true", help="also what is too slow for each run; see --list")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1 << 31), help="seed of the fuzz runs")
    return parser.parse_args()


def list_steps() -> None:
    for step in STEPS:
        print(f"{step.name:16} {step.about}{' With --all.' if step.thorough else ''}")


def chosen_jobs(only: Sequence[str] | None, settings: Settings) -> list[Job]:
    """The jobs of the chosen steps and those that they come after, in the order of the report."""
    everything = {step.name: step.jobs(settings) for step in STEPS}
    chosen = [step.name for step in STEPS if (step.name in only if only else settings.thorough or not step.thorough)]
    jobs = {job.name: job for group in everything.values() for job in group}
    wanted: set[str] = set()
    waiting = [job.name for name in chosen for job in everything[name]]
    while waiting:
        name = waiting.pop()
        if name not in wanted:
            wanted.add(name)
            waiting += jobs[name].after
    return [job for job in jobs.values() if job.name in wanted]


def both_ends(lines: list[str], first: int = 80, last: int = 40) -> list[str]:
    """A long log without its middle: some tools say what failed first, others last."""
    left_out = len(lines) - first - last
    return lines if left_out <= 0 else [*lines[:first], f"… {left_out} lines …", *lines[-last:]]


def show(case: Case, seconds: float) -> None:
    counts = ", ".join(f"{count} {status.value}" for status, count in case.counts.items() if count)
    note = f" ({case.note})" if case.note else ""
    print(f"{case.status.value:8}{case.name:36}{seconds:7.1f} s  {counts}{note}", flush=True)
    if case.status is Status.FAILED:
        print("\n".join(f"    {line}" for line in both_ends(case.log.strip().splitlines())), flush=True)


def report(jobs: Sequence[Job]) -> int:
    total = dict.fromkeys(Status, 0)
    for cases in Schedule(jobs).as_they_end():
        for case, seconds in cases:
            show(case, seconds)
            for status, count in case.counts.items():
                total[status] += count
    print(", ".join(f"{count} {status.value}" for status, count in total.items()))
    return 1 if total[Status.FAILED] or not total[Status.PASSED] else 0


def interrupt(number: int, _: object) -> None:
    """Ends the run with its commands, which a signal to this process does not reach."""
    children.stop()
    print(f"interrupted by {signal.Signals(number).name}", file=sys.stderr, flush=True)
    os._exit(128 + number)


def main() -> int:
    chosen = options()
    if chosen.list:
        list_steps()
        return 0
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)
    return report(chosen_jobs(chosen.only, Settings(seed=chosen.seed, thorough=chosen.all)))


if __name__ == "__main__":
    sys.exit(main())
