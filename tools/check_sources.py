"""Checks that include/lathe/impl/src.hpp includes every body file, lowest layer first; --write makes it so."""

import sys

from lathe_tree import INCLUDE, files, show

SOURCE_LIST = INCLUDE / "lathe" / "impl" / "src.hpp"
HEADER = """\
// Every function body of Lathe, for the one translation unit of a program in compiled mode.
// Made by tools/check_sources.py --write.
#pragma once

#if !defined(LATHE_SEPARATE_COMPILATION)
#error "Define LATHE_SEPARATE_COMPILATION for the whole program before including <lathe/impl/src.hpp>"
#endif

"""


def expected() -> str:
    lines = [f"#include <{path.relative_to(INCLUDE).as_posix()}>" for path in files("*.ipp")]
    return HEADER + "\n".join(lines) + "\n"


def main() -> int:
    if "--write" in sys.argv[1:]:
        SOURCE_LIST.parent.mkdir(exist_ok=True)
        SOURCE_LIST.write_text(expected())
    if SOURCE_LIST.exists() and SOURCE_LIST.read_text() == expected():
        print(f"{show(SOURCE_LIST)} lists every .ipp file")
        return 0
    print(f"{show(SOURCE_LIST)} is not up to date: run tools/check_sources.py --write")
    return 1


if __name__ == "__main__":
    sys.exit(main())
