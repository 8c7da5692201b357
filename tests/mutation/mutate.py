"""Removes conditions of checks and passes, one at a time, and runs the tests: each must be noticed.

All mutants are in one build; the environment chooses one. Ends with exit status 1 if a mutant that
equivalent.txt does not explain survives.
"""

import argparse
import os
import random
import secrets
import shutil
import subprocess
import sys
import time
from pathlib import Path

from mutants import SWITCH, Mutant, instrument

ROOT = Path(__file__).resolve().parents[2]
TREE = ROOT / "build" / "mutation" / "tree"
EXPLAINED = Path(__file__).with_name("equivalent.txt")
FOLDERS = ["schedule", "lower"]
TESTS = ["unit_lower", "errors", "unit_schedule", "conformance", "unit_jit"]
FUZZ = ["--cases", "400", "--seed", "20261122"]
LIMIT = 300


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
        for folder in FOLDERS
        for path in sorted((base / folder / "impl").glob("*.ipp"))
        if path.name != "layer.ipp"
    }


def write_if_new(path: Path, text: str) -> None:
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def prepare() -> list[Mutant]:
    """A copy of the tree with a switch on each condition."""
    changed = {f"include/lathe/{name}": text for name, text, _ in instrument(sources())}
    config = "include/lathe/support/config.hpp"
    changed[config] = (ROOT / config).read_text() + SWITCH
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listed.stdout.splitlines():
        if name in changed:
            write_if_new(TREE / name, changed[name])
        elif (ROOT / name).is_file():
            (TREE / name).parent.mkdir(parents=True, exist_ok=True)
            if not (TREE / name).exists() or (TREE / name).stat().st_mtime < (ROOT / name).stat().st_mtime:
                shutil.copy2(ROOT / name, TREE / name)
    return [mutant for _, _, found in instrument(sources()) for mutant in found]


def build() -> None:
    folder = TREE / "build" / "run"
    launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    configure = ["cmake", "-S", TREE, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-O1 -w"]
    configure += ["-DLATHE_BUILD_TESTS=ON", "-DLATHE_BUILD_EXAMPLES=OFF", "-DLATHE_BUILD_BENCH=OFF", *launcher]
    subprocess.run(configure, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", folder, "--target", *TESTS, "--", "--quiet"], check=True)
    make = ["make", "--silent", "-f", "tests/fuzz/Makefile", "out=build/fuzz", "CXXFLAGS=-O1 -w"]
    subprocess.run(make, cwd=TREE, check=True)


def commands() -> list[tuple[str, list[str | Path]]]:
    """The tests, the quick ones first; each has to pass without a mutant."""
    tests = [(name, [TREE / "build" / "run" / "tests" / name, "--abort-after=1"]) for name in TESTS]
    saved = [part for path in sorted((TREE / "tests" / "fuzz" / "saved").glob("*.txt")) for part in ("--file", path)]
    return [*tests, ("fuzz", [TREE / "build" / "fuzz" / "fuzz", *FUZZ, *saved])]


def noticed_by(mutant: int) -> str:
    """The first test that fails with this mutant, or nothing."""
    env = {**os.environ, "LATHE_MUTANT": str(mutant)}
    for name, command in commands():
        try:
            done = subprocess.run(command, cwd=TREE, env=env, capture_output=True, timeout=LIMIT)
        except subprocess.TimeoutExpired:
            return f"{name} (does not end)"
        if done.returncode != 0:
            return name
    return ""


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
    for mutant in chosen(mutants, wanted):
        start = time.monotonic()
        test = noticed_by(mutant.id)
        same = "" if test else reasons.get(mutant.key(), "")
        left += not test and not same
        verdict = test or (f"the same: {same}" if same else "NOT NOTICED")
        print(f"{mutant}\n      {verdict}, {time.monotonic() - start:.0f} s", flush=True)
    print(f"{left} not noticed")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
