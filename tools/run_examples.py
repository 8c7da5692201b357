"""Runs built examples and compares what they print with examples/NAME.expected.

run_examples.py [--quiet] [--update] [--give NAME=ARGUMENT]... FOLDER [NAME]...
Numbers before ms, us, s, GFLOP/s, GB/s or x count as equal. An example whose libraries are missing was not built: it
is skipped.
"""

import argparse
import difflib
import re
import subprocess
import sys
from pathlib import Path

SOURCES = Path(__file__).resolve().parent.parent / "examples"
MEASURED = re.compile(r"[ \t]*\b\d+(?:\.\d+)?(?=\s*(?:ns|us|ms|s|GFLOP/s|GB/s)(?!\w)|x\b)")


def mask(text: str) -> str:
    """The text with '#' in place of measured numbers."""
    return MEASURED.sub(" #", text)


def difference(expected: Path, printed: str) -> str:
    if not expected.exists():
        return f"{expected.name} does not exist: write it with --update"
    lines = difflib.unified_diff(
        mask(expected.read_text()).splitlines(), mask(printed).splitlines(), "expected", "printed", lineterm=""
    )
    return "\n".join(lines)


def run_example(folder: Path, name: str, given: list[str], update: bool, quiet: bool) -> bool:
    """Whether the example exits with 0 and prints what is expected; files that it writes go to the folder."""
    done = subprocess.run(
        [folder / name, *given], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300
    )
    expected = SOURCES / f"{name}.expected"
    if update and done.returncode == 0:
        expected.write_text(mask(done.stdout))
    problem = difference(expected, done.stdout)
    if done.returncode != 0:
        problem = f"exit status {done.returncode}\n{done.stderr}\n{problem}"
    if not quiet:
        print(f"== {name}\n{done.stdout}")
    if problem:
        print(f"{name} differs from what is expected:\n{problem}\n")
    return not problem


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quiet", action="store_true", help="print differences only")
    parser.add_argument("--update", action="store_true", help="write what is printed to examples/NAME.expected")
    parser.add_argument("--give", action="append", default=[], metavar="NAME=ARGUMENT", help="run NAME with ARGUMENT")
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    chosen = parser.parse_intermixed_args()
    names = chosen.names or sorted(path.stem for path in SOURCES.glob("*.cpp"))
    folder = chosen.folder.resolve()
    given = {name: [text for who, _, text in (g.partition("=") for g in chosen.give) if who == name] for name in names}
    missing = [name for name in names if not (folder / name).exists()]
    built = [name for name in names if name not in missing]
    good = [run_example(folder, name, given[name], chosen.update, chosen.quiet) for name in built]
    if missing:
        print(f"skipped, since it was not built: {', '.join(missing)}")
    if not chosen.quiet:
        print(f"{sum(good)} of {len(good)} examples print what is expected")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
