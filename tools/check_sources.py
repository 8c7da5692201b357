"""Checks that lathe/impl/src.hpp leads to every body file, lowest layer first; --write makes it so.

src.hpp includes <layer>/impl/layer.ipp of each layer, which is written by hand.
"""

import sys
from pathlib import Path

from lathe_tree import INCLUDE, files, includes, show

SOURCE_LIST = INCLUDE / "lathe" / "impl" / "src.hpp"
HEADER = """\
// Every function body of Lathe, for header-only use or once per program in compiled mode.
// Made by tools/check_sources.py --write.
#pragma once

// Lowest layer first.
// clang-format off
"""


def expected() -> str:
    names = [path.relative_to(INCLUDE).as_posix() for path in files("impl/layer.ipp")]
    return HEADER + "".join(f"#include <{name}>\n" for name in names)


def reached(path: Path, seen: set[Path]) -> set[Path]:
    """The file and all files of Lathe that it includes, directly or not."""
    if path not in seen and path.exists():
        seen.add(path)
        for name in includes(path):
            if name.startswith("lathe/"):
                reached(INCLUDE / name, seen)
    return seen


def main() -> int:
    if "--write" in sys.argv[1:]:
        SOURCE_LIST.parent.mkdir(exist_ok=True)
        SOURCE_LIST.write_text(expected())
    problems = []
    if not SOURCE_LIST.exists() or SOURCE_LIST.read_text() != expected():
        problems.append(f"{show(SOURCE_LIST)} is not up to date: run tools/check_sources.py --write")
    found = reached(SOURCE_LIST, set())
    problems += [f"{show(path)} is in no layer.ipp" for path in files("*.ipp") if path not in found]
    print("\n".join(problems) or f"{show(SOURCE_LIST)} leads to every .ipp file")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
