"""Reports the sizes of files and functions in include/; --check fails on what is past the hard limits.

Budgets are what a reader can hold; tables and rule files that are long by nature are exempt by name below.
"""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from lathe_tree import ROOT, files, show

FILE_LIMIT, FOLDER_LIMIT = 400, 40  # lines, files
FUNCTION_BUDGET, FUNCTION_LIMIT, FUNCTION_P95 = 40, 60, 25
ROOM_LIMITS = {"include/lathe/codegen/c": 700}  # lines: an emitter that only spells what passes have decided
# File or file:function, and why it may be longer.
EXEMPT: dict[str, str] = {}


class Function(NamedTuple):
    lines: int
    place: str
    name: str


def functions() -> Iterator[Function]:
    """Every function definition below include/, as seen by ctags."""
    command = ["ctags", "-R", "--languages=C++", "--map-C++=+.ipp", "--kinds-C++=f", "--fields=+ne"]
    command += ["--output-format=json", "-f", "-", "include"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for line in listing.splitlines():
        tag = json.loads(line)
        if "end" in tag:
            yield Function(tag["end"] - tag["line"] + 1, f"{tag['path']}:{tag['line']}", tag["name"])


def percentile(sorted_values: list[int], share: float) -> int:
    return sorted_values[min(len(sorted_values) - 1, int(share * len(sorted_values)))] if sorted_values else 0


def crowded(lengths: dict[Path, int]) -> Iterator[str]:
    for folder, count in Counter(path.parent for path in lengths).items():
        if count > FOLDER_LIMIT:
            yield f"{show(folder)}: {count} files"
    for room, limit in ROOM_LIMITS.items():
        lines = sum(n for path, n in lengths.items() if path.is_relative_to(ROOT / room))
        if lines > limit:
            yield f"{room}: {lines} lines"


def past_limits(lengths: dict[Path, int], found: list[Function], p95: int) -> Iterator[str]:
    for path, n in lengths.items():
        if n > FILE_LIMIT and show(path) not in EXEMPT:
            yield f"{show(path)}: {n} lines"
    for f in found:
        if f.lines > FUNCTION_LIMIT and f"{f.place.split(':')[0]}:{f.name}" not in EXEMPT:
            yield f"{f.place}: {f.name} has {f.lines} lines"
    if p95 > FUNCTION_P95:
        yield f"95% of functions have up to {p95} lines"
    yield from crowded(lengths)


def main() -> int:
    lengths = {path: len(path.read_text().splitlines()) for path in files("*.[hi]pp")}
    found = sorted(functions(), reverse=True)
    p95 = percentile(sorted(f.lines for f in found), 0.95)
    print(f"{len(lengths)} files, {sum(lengths.values())} lines; {len(found)} functions, 95% of them ≤ {p95} lines")
    over = [f"{f.place}: {f.name} has {f.lines} lines" for f in found if f.lines > FUNCTION_BUDGET]
    print("\n".join([f"functions over {FUNCTION_BUDGET} lines:", *over]))
    hard = list(past_limits(lengths, found, p95))
    if hard:
        limits = f"files {FILE_LIMIT} lines, folders {FOLDER_LIMIT} files, functions {FUNCTION_LIMIT} lines"
        print("\n".join([f"past the hard limits ({limits}):", *hard]))
    return 1 if hard and "--check" in sys.argv[1:] else 0


if __name__ == "__main__":
    sys.exit(main())
