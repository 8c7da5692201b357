"""What the tools know of the source tree: layers, files, and the includes between them."""

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "include"
ARCHITECTURE = ROOT / "docs" / "architecture.md"
INCLUDE_LINE = re.compile(r"^\s*#\s*include\s*([<\"])([^>\"]+)[>\"]", re.MULTILINE)


def table(heading: str) -> list[list[str]]:
    """The rows of the first table after a heading of docs/architecture.md."""
    text = ARCHITECTURE.read_text().split(f"{heading}\n", 1)[1]
    lines = text[text.index("\n|") + 1 :].split("\n\n", 1)[0].splitlines()
    return [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in lines[2:]]


@cache
def layers() -> dict[str, set[str]]:
    """Each layer, lowest first, with the layers that it may include."""
    allowed: dict[str, set[str]] = {}
    for name, may_include, *_ in table("## Layers"):
        named = may_include.removesuffix(" and below").split(", ")
        rows = list(allowed)
        below = rows[: rows.index(named[-1])] if may_include.endswith(" and below") else []
        allowed[name] = ({name, *named} | set(below)) - {"std"}
    return allowed


def files(pattern: str) -> list[Path]:
    """Files of include/lathe, lowest layer first, then by name."""
    order = list(layers())

    def key(path: Path) -> tuple[int, str]:
        layer = layer_of(path)
        return (order.index(layer) if layer in order else len(order), path.as_posix())

    return sorted(INCLUDE.glob(f"lathe/**/{pattern}"), key=key)


def layer_of(path: Path) -> str:
    """The layer of a file below include/; empty for an entry header such as lathe/lathe.hpp."""
    return layer_named(path.relative_to(INCLUDE).as_posix())


def layer_named(name: str) -> str:
    """The layer of "lathe/ir/expr.hpp": the folder below lathe/, or the two folders that have a row together."""
    folders = name.split("/")[1:-1]
    if not folders or folders == ["impl"]:
        return ""
    room = "/".join(folders[:2])
    return room if room in layers() else folders[0]


def includes(path: Path) -> list[str]:
    """The names in the include lines of a file, in order."""
    return [match[2] for match in INCLUDE_LINE.finditer(path.read_text())]


def show(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()
