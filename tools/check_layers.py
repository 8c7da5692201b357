"""Fails on an include that the tables of docs/architecture.md do not allow."""

import re
import sys
from pathlib import Path

from lathe_tree import files, includes, layer_named, layer_of, layers, show, table

STD_HEADER = re.compile(r"[a-z_]+")
POSIX_HEADER = re.compile(r"(sys/|arpa/|netinet/)?[a-z_]+\.h")
# Costly for every user that includes the header; bodies may use them.
BANNED_IN_HPP = {"filesystem", "functional", "iostream", "ranges", "regex"}


def external_rows() -> dict[str, set[str]]:
    return {header: set(where.split(", ")) for header, where, _ in table("### External headers")}


def external_problem(name: str, layer: str, rows: dict[str, set[str]]) -> str | None:
    if STD_HEADER.fullmatch(name):
        return None
    row = next((row for row in rows if name == row or (row.endswith("/") and name.startswith(row))), None)
    if row is None and POSIX_HEADER.fullmatch(name):
        row = "POSIX"
    if row in rows and layer in rows[row]:
        return None
    return f"'{name}' is not allowed in layer '{layer}' (table of external headers)"


def problems(path: Path) -> list[str]:
    allowed, rows, layer, found = layers(), external_rows(), layer_of(path), []
    if layer and layer not in allowed:
        return [f"layer '{layer}' has no row in the table of layers"]
    for name in includes(path):
        if name.startswith("lathe/"):
            target = layer_named(name)
            if layer and target not in allowed[layer]:
                what = f"layer '{target}'" if target else f"the entry header '{name}'"
                found.append(f"includes {what}; '{layer}' may include {', '.join(sorted(allowed[layer]))}")
            continue
        if path.suffix == ".hpp" and name in BANNED_IN_HPP:
            found.append(f"<{name}> is for .ipp files only")
        if layer and (problem := external_problem(name, layer, rows)):
            found.append(problem)
    return found


def main() -> int:
    found = [f"{show(path)}: {text}" for path in files("*.[hi]pp") for text in problems(path)]
    print("\n".join(found) or "every include follows the tables of docs/architecture.md")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
