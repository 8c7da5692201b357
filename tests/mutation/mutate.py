"""Removes conditions of checks and passes, one at a time, and runs the tests: each must be noticed.

All mutants are in one build; the environment chooses one. A mutant gets the tests of its own layer first,
then the others from the quickest on, then random programs. The tests are built without
optimization, the library with a little: the tests of `schedule` spend their time in it. Ends with exit
status 1 if a mutant that equivalent.txt does not explain survives.
"""

import argparse
import os
import random
import resource
import secrets
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from mutants import SWITCH, Mutant, instrument

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "mutation"
EXPLAINED = Path(__file__).with_name("equivalent.txt")
LAYERS = ["ir", "arith", "analysis", "schedule", "autoschedule", "lower"]
UNITS = [f"unit/{layer}" for layer in [*LAYERS, "dsl", "eval", "jit"]]
TESTS = [*UNITS, "meaning", "errors", "docs", "oracle", "conformance"]
PROGRAMS = {"fuzz": "tests/fuzz/fuzz.cpp", "oracle_random": "tests/oracle/random_programs.cpp"}
RANDOM = {"oracle_random": ["--cases", "150", "--seed", "20261123"], "fuzz": ["--cases", "300", "--seed", "20261122"]}
FLAGS = ["-std=c++20", "-O0", "-w", "-DLATHE_SEPARATE_COMPILATION", f'-DLATHE_TEST_DIR="{ROOT / "tests"}"']
FOLDERS = [f"-I{ROOT / 'include'}", f"-I{ROOT / 'tests'}", "-isystem/usr/include/eigen3"]
CXX = os.environ.get("CXX", "c++")
JOBS = os.cpu_count() or 1
MEMORY = 6 << 30  # bytes that a test may have: without a check it may want all


@dataclass
class Test:
    """A program and its arguments; how long it takes without a mutant sets when it counts as hanging."""

    name: str
    command: list[str | Path]
    seconds: float = 0.0

    def limit(self) -> float:
        return 30 + 8 * self.seconds


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=40, help="how many, at random")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1 << 31))
    parser.add_argument("--mutant", type=int, action="append", help="these alone")
    parser.add_argument("--layer", action="append", choices=LAYERS, help="of these layers alone")
    parser.add_argument("--list", action="store_true", help="name all mutants and stop")
    return parser.parse_args()


def sources() -> dict[str, str]:
    """The files with checks and passes, by their path below include/lathe."""
    base = ROOT / "include" / "lathe"
    return {
        str(path.relative_to(base)): path.read_text()
        for layer in LAYERS
        for path in sorted((base / layer).rglob("*.ipp"))
        if path.name != "layer.ipp"
    }


def prepare() -> list[Mutant]:
    """Writes the sources with a switch on each condition."""
    mutants = []
    shutil.rmtree(FOLDER / "include", ignore_errors=True)
    for name, text, found in instrument(sources()):
        path = FOLDER / "include" / "lathe" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        mutants += found
    (FOLDER / "switch.hpp").write_text(SWITCH)
    return mutants


def run(*command: str | Path) -> None:
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def compiled(source: Path, *extra: str | Path) -> Path:
    """The object of a test's source; the tests know nothing of mutants."""
    launcher = ["ccache"] if shutil.which("ccache") else []
    target = FOLDER / "objects" / source.relative_to(ROOT).with_suffix(".o")
    target.parent.mkdir(parents=True, exist_ok=True)
    run(*launcher, CXX, *FLAGS, *extra, *FOLDERS, "-c", source, "-o", target)
    return target


def linked(name: str, objects: list[Path]) -> None:
    run(CXX, *objects, "-o", FOLDER / name, "-pthread", "-ldl")


def build() -> None:
    """All mutants are in one library, which each test program is linked with once."""
    folders = {name: sorted((ROOT / "tests" / name).rglob("*.cpp")) for name in TESTS}
    folders["oracle"] = [path for path in folders["oracle"] if path.name.endswith("_test.cpp")]
    folders |= {name: [ROOT / source] for name, source in PROGRAMS.items()}
    shared = [ROOT / "tests" / "unit" / "main.cpp", ROOT / "tests" / "support" / "root.cpp"]
    sources = {path for paths in folders.values() for path in paths} | set(shared)
    switched = ["-include", FOLDER / "switch.hpp", f"-I{FOLDER / 'include'}"]
    with ThreadPoolExecutor(JOBS) as pool:
        library = pool.submit(compiled, ROOT / "cmake" / "lathe.cpp", "-O1", *switched)
        objects = dict(zip(sources, pool.map(compiled, sources), strict=True))
    for name, paths in folders.items():
        main = [] if name in PROGRAMS else [objects[path] for path in shared]
        linked(program_name(name), [*(objects[path] for path in paths), *main, library.result()])


def program_name(test: str) -> str:
    return test.replace("/", "_")


def tests() -> list[Test]:
    """All tests, the quick ones first, with the time that each takes; ends the run if one fails."""
    quick, drawn = "--test-case-exclude=*random*", "--test-case=*random*"
    found = [Test(name, [FOLDER / program_name(name), "--abort-after=1", quick]) for name in TESTS]
    found += [Test("unit/schedule, random", [FOLDER / "unit_schedule", "--abort-after=1", drawn])]
    for test in found:
        measure(test)
    found.sort(key=lambda test: test.seconds)
    saved = [part for path in sorted((ROOT / "tests" / "fuzz" / "saved").glob("*.txt")) for part in ("--file", path)]
    last = [Test(name, [FOLDER / name, *arguments]) for name, arguments in RANDOM.items()]
    last[-1].command += saved
    for test in last:
        measure(test)
    return [*found, *last]


def measure(test: Test) -> None:
    start = time.monotonic()
    if reason := failure(test, -1, 600):
        sys.exit(f"{test.name} fails without a mutant: {reason}")
    test.seconds = time.monotonic() - start


def failure(test: Test, mutant: int, limit: float) -> str:
    """How the test fails with this mutant, or nothing."""
    env = {**os.environ, "LATHE_MUTANT": str(mutant)}
    try:
        done = subprocess.run(
            test.command,
            cwd=ROOT,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=limit,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),  # noqa: PLW1509
        )
    except subprocess.TimeoutExpired:
        return f"{test.name} (does not end)"
    return test.name if done.returncode != 0 else ""


def noticed_by(mutant: Mutant, every: list[Test]) -> str:
    """The first test that fails with this mutant, or nothing. The tests of its layer come first."""
    own = "unit/" + mutant.file.split("/")[0]
    for test in sorted(every, key=lambda test: test.name != own):
        if noticed := failure(test, mutant.id, test.limit()):
            return noticed
    return ""


def timed(mutant: Mutant, every: list[Test]) -> tuple[str, float]:
    start = time.monotonic()
    return noticed_by(mutant, every), time.monotonic() - start


def explained() -> dict[str, str]:
    """Why a mutant computes the same, by its key: lines of equivalent.txt, 'key => reason'."""
    lines = EXPLAINED.read_text().splitlines() if EXPLAINED.exists() else []
    pairs = (line.split(" => ", 1) for line in lines if " => " in line and not line.startswith("#"))
    return {key: reason for key, reason in pairs}


def chosen(mutants: list[Mutant], wanted: argparse.Namespace) -> list[Mutant]:
    if wanted.mutant:
        return [mutant for mutant in mutants if mutant.id in wanted.mutant]
    layers = wanted.layer or LAYERS
    candidates = [mutant for mutant in mutants if mutant.file.split("/")[0] in layers]
    picked = random.Random(wanted.seed).sample(candidates, min(wanted.count, len(candidates)))
    return sorted(picked, key=lambda mutant: mutant.id)


def main() -> int:
    wanted = options()
    mutants = prepare()
    if wanted.list:
        print("\n".join(map(str, mutants)))
        return 0
    build()
    every = tests()
    reasons = explained()
    print(f"{len(mutants)} conditions, seed {wanted.seed}; {', '.join(f'{t.name} {t.seconds:.0f} s' for t in every)}")
    left = 0
    picked = chosen(mutants, wanted)
    with ThreadPoolExecutor(JOBS) as pool:
        results = pool.map(lambda mutant: timed(mutant, every), picked)
        for mutant, (test, seconds) in zip(picked, results, strict=True):
            same = "" if test else reasons.get(mutant.key(), "")
            left += not test and not same
            verdict = test or (f"the same: {same}" if same else "NOT NOTICED")
            print(f"{mutant}\n      {verdict}, {seconds:.0f} s", flush=True)
    print(f"{left} not noticed")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
