"""Removes conditions of checks and passes, one at a time, and runs the tests: each must be noticed.

All mutants are in one build; the environment chooses one. Ends with exit status 1 if a mutant that
equivalent.txt does not explain survives.
"""

import argparse
import json
import os
import random
import secrets
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mutants import SWITCH, Mutant, instrument

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "run"
FUZZ_BUILD = ROOT / "build" / "fuzz"
FOLDER = ROOT / "build" / "mutation"
EXPLAINED = Path(__file__).with_name("equivalent.txt")
LAYERS = ["schedule", "lower"]
TESTS = ["docs", "errors", "unit_schedule", "unit_jit", "conformance", "unit_lower"]
FUZZ = ["--cases", "400", "--seed", "20261122"]
LIMIT = 900
CXX = os.environ.get("CXX", "c++")


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=40, help="how many, at random")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1 << 31))
    parser.add_argument("--mutant", type=int, action="append", help="these alone")
    parser.add_argument("--list", action="store_true", help="name all mutants and stop")
    return parser.parse_args()


def sources() -> dict[str, str]:
    """The files with checks and passes, by their path below include/lathe."""
    base = ROOT / "include" / "lathe"
    return {
        str(path.relative_to(base)): path.read_text()
        for layer in LAYERS
        for path in sorted((base / layer / "impl").glob("*.ipp"))
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


def objects() -> dict[str, list[str]]:
    """What the tests are linked of but the library, as tests/run.sh compiles it: no test knows of mutants."""
    configure = ["-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-O2", "-DLATHE_BUILD_TESTS=ON", "-DLATHE_BUILD_BENCH=OFF"]
    run("cmake", "-S", ROOT, "-B", BUILD, "-G", "Ninja", *([] if (BUILD / "CMakeCache.txt").exists() else configure))
    units = json.loads((BUILD / "compile_commands.json").read_text())
    every = [unit["command"].split(" -o ")[1].split()[0] for unit in units]
    wanted = {name: [path for path in every if f"/{name}.dir/" in path or "/test_main.dir/" in path] for name in TESTS}
    run("cmake", "--build", BUILD, "--target", *sorted({path for paths in wanted.values() for path in paths}))
    out = str(FUZZ_BUILD.relative_to(ROOT))
    run("make", "--silent", "-f", "tests/fuzz/Makefile", f"out={out}", f"{out}/fuzz.o")
    linked = {name: [str(BUILD / path) for path in paths] for name, paths in wanted.items()}
    return {**linked, "fuzz": [str(FUZZ_BUILD / "fuzz.o")]}


def build() -> None:
    """All mutants are in one library."""
    launcher = ["ccache"] if shutil.which("ccache") else []
    library = FOLDER / "lathe.o"
    flags = ["-std=c++20", "-O1", "-w", "-DLATHE_SEPARATE_COMPILATION", "-include", FOLDER / "switch.hpp"]
    folders = [f"-I{FOLDER / 'include'}", f"-I{ROOT / 'include'}"]
    run(*launcher, CXX, *flags, *folders, "-c", "cmake/lathe.cpp", "-o", library)
    for name, files in objects().items():
        run(CXX, library, *files, "-o", FOLDER / name, "-pthread", "-ldl")


def commands() -> list[tuple[str, list[str | Path]]]:
    """The tests, the quick ones first; each has to pass without a mutant."""
    quick, drawn = "--test-case-exclude=*random*", "--test-case=*random*"
    tests: list[tuple[str, list[str | Path]]] = [(name, [FOLDER / name, "--abort-after=1", quick]) for name in TESTS]
    tests += [("unit_schedule, random", [FOLDER / "unit_schedule", "--abort-after=1", drawn])]
    saved = [part for path in sorted((ROOT / "tests" / "fuzz" / "saved").glob("*.txt")) for part in ("--file", path)]
    return [*tests, ("fuzz", [FOLDER / "fuzz", *FUZZ, *saved])]


def noticed_by(mutant: int) -> str:
    """The first test that fails with this mutant, or nothing."""
    env = {**os.environ, "LATHE_MUTANT": str(mutant)}
    for name, command in commands():
        try:
            done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, timeout=LIMIT)
        except subprocess.TimeoutExpired:
            return f"{name} (does not end)"
        if done.returncode != 0:
            return name
    return ""


def timed(mutant: Mutant) -> tuple[str, float]:
    start = time.monotonic()
    return noticed_by(mutant.id), time.monotonic() - start


def explained() -> dict[str, str]:
    """Why a mutant computes the same, by its key: lines of equivalent.txt, 'key => reason'."""
    lines = EXPLAINED.read_text().splitlines() if EXPLAINED.exists() else []
    pairs = (line.split(" => ", 1) for line in lines if " => " in line and not line.startswith("#"))
    return {key: reason for key, reason in pairs}


def chosen(mutants: list[Mutant], wanted: argparse.Namespace) -> list[Mutant]:
    if wanted.mutant:
        return [mutant for mutant in mutants if mutant.id in wanted.mutant]
    picked = random.Random(wanted.seed).sample(mutants, min(wanted.count, len(mutants)))
    return sorted(picked, key=lambda mutant: mutant.id)


def main() -> int:
    wanted = options()
    mutants = prepare()
    if wanted.list:
        print("\n".join(map(str, mutants)))
        return 0
    build()
    if failing := noticed_by(-1):
        print(f"{failing} fails without a mutant", file=sys.stderr)
        return 2
    reasons = explained()
    print(f"{len(mutants)} conditions, seed {wanted.seed}")
    left = 0
    picked = chosen(mutants, wanted)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for mutant, (test, seconds) in zip(picked, pool.map(timed, picked), strict=True):
            same = "" if test else reasons.get(mutant.key(), "")
            left += not test and not same
            verdict = test or (f"the same: {same}" if same else "NOT NOTICED")
            print(f"{mutant}\n      {verdict}, {seconds:.0f} s", flush=True)
    print(f"{left} not noticed")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
