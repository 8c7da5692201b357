"""Reports the sizes of files and functions in include/; --check fails on what is past the hard limits.

Budgets are what a reader can hold; tables and rule files that are long by nature are exempt by name below.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from lathe_tree import ROOT, files, show

FILE_BUDGET, FILE_LIMIT = 400, 800
FUNCTION_BUDGET, FUNCTION_LIMIT, FUNCTION_P95 = 40, 80, 25
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


def past_limits(lengths: dict[Path, int], found: list[Function]) -> list[str]:
    hard = [f"{show(path)}: {n} lines" for path, n in lengths.items() if n > FILE_LIMIT and show(path) not in EXEMPT]
    hard += [
        f"{f.place}: {f.name} has {f.lines} lines"
        for f in found
        if f.lines > FUNCTION_LIMIT and f"{f.place.split(':')[0]}:{f.name}" not in EXEMPT
    ]
    return hard


def main() -> int:
    lengths = {path: len(path.read_text().splitlines()) for path in files("*.[hi]pp")}
    found = sorted(functions(), reverse=True)
    p95 = percentile(sorted(f.lines for f in found), 0.95)
    print(f"{len(lengths)} files, {sum(lengths.values())} lines; {len(found)} functions, 95% of them ≤ {p95} lines")
    print(f"over budget (files {FILE_BUDGET}, functions {FUNCTION_BUDGET}, 95% of functions {FUNCTION_P95} lines):")
    over = [f"{show(path)}: {lines} lines" for path, lines in lengths.items() if lines > FILE_BUDGET]
    over += [f"{f.place}: {f.name} has {f.lines} lines" for f in found if f.lines > FUNCTION_BUDGET]
    print("\n".join(over) or "none")
    hard = past_limits(lengths, found)
    if hard:
        limits = f"files {FILE_LIMIT}, functions {FUNCTION_LIMIT} lines"
        print("\n".join([f"past the hard limits ({limits}):", *hard]))
    return 1 if hard and "--check" in sys.argv[1:] else 0


if __name__ == "__main__":
    sys.exit(main())
