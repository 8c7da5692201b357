"""Makes the single-file headers in single_include/ from include/; --check compares instead of writing.

Each file has two regions: the declarations of every header, in the order in which they include one another,
then all function bodies. LATHE_SEPARATE_COMPILATION leaves the second region out, except in the one translation
unit that defines LATHE_IMPLEMENTATION. What runs only while a kernel is made stands between LATHE_LEAN_BEGIN and
LATHE_LEAN_END.
"""

import re
import sys
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from lathe_tree import INCLUDE, ROOT, layer_of, show

# Entry headers, each on top of the ones before it.
ENTRIES = ["lathe.hpp", "tune.hpp", "graph.hpp", "onnx.hpp"]
BODY_INCLUDE = re.compile(
    r"^#if !defined\(LATHE_SEPARATE_COMPILATION\)(?: \|\| defined\(LATHE_IMPLEMENTATION\))?\n"
    r"((?:#include <lathe/\S+>[^\n]*\n)+)#endif[^\n]*\n",
    re.MULTILINE,
)
INCLUDE_LINE = re.compile(r"#\s*include <([^>]+)>")
CONDITIONAL = re.compile(r"#\s*(if|endif)")
BLANK_LINES = re.compile(r"\n{3,}")
ONLY_COMMENTS = re.compile(r"(?:\s*//[^\n]*)*")
BANNER = """\
// Lathe: tensor programs, compiled while the program runs. Apache-2.0.
// Made by tools/amalgamate.py from include/{entry}; do not edit.
#pragma once

"""


@dataclass
class Source:
    """A file without its unconditional includes; conditional ones of Lathe's files are expanded where they stand."""

    own: list[Path] = field(default_factory=list)
    foreign: set[str] = field(default_factory=set)
    text: str = ""


@cache
def load(path: Path) -> Source:
    source, depth = Source(), 0
    whole = BODY_INCLUDE.sub(r"\1", path.read_text()).replace("#pragma once\n", "")
    for line in whole.splitlines(keepends=True):
        if match := CONDITIONAL.match(line):
            depth += 1 if match[1] == "if" else -1
        include = INCLUDE_LINE.match(line)
        if include and include[1].startswith("lathe/"):
            target = INCLUDE / include[1]
            if depth == 0:
                source.own.append(target)
            else:
                expanded = load(target)
                source.own += expanded.own
                source.text += include_lines(expanded.foreign) + expanded.text
        elif include and depth == 0:
            source.foreign.add(include[1])
        else:
            source.text += line
    return source


def is_body(path: Path) -> bool:
    return path.suffix == ".ipp"


def visit(path: Path, seen: set[Path], order: list[Path]) -> None:
    """Appends a file and everything below it, each after what it includes; a header comes before the bodies."""
    if path in seen:
        return
    seen.add(path)
    own = load(path).own
    bodies = [target for target in own if is_body(target) and not is_body(path)]
    for target in own:
        if target not in bodies:
            visit(target, seen, order)
    order.append(path)
    for target in bodies:
        visit(target, seen, order)


# What runs with kernels: these layers, and of others the files of these names.
RUNNING_LAYERS = {"eval", "interop"}
RUNNING_NAMES = {
    "support": {"call_report", "config", "element_type", "kernel", "kernel_c", "slot_layout"},
    "runtime": {"abi", "thread_pool", "view"},
    "jit": {"binding", "binding_check", "binding_sizes", "call_check", "dense_call", "kernel"},
}


def is_lean(path: Path) -> bool:
    layer = layer_of(path)
    return layer not in RUNNING_LAYERS and path.stem not in RUNNING_NAMES.get(layer, set())


def region(paths: list[Path]) -> tuple[set[str], str]:
    """The contents of the files one after the other, and the foreign headers that they need."""
    foreign: set[str] = set()
    parts: list[str] = []
    lean = False
    for path in paths:
        source = load(path)
        foreign |= source.foreign
        text = BLANK_LINES.sub("\n\n", source.text).strip()
        if ONLY_COMMENTS.fullmatch(text):
            continue
        if is_lean(path) != lean:
            parts.append("LATHE_LEAN_END\n" if lean else "LATHE_LEAN_BEGIN\n")
            lean = not lean
        parts.append(f"// ---- {path.relative_to(INCLUDE).as_posix()}\n{text}\n")
    if lean:
        parts.append("LATHE_LEAN_END\n")
    return foreign, "\n".join(parts)


def include_lines(headers: set[str]) -> str:
    return "".join(f"#include <{name}>\n" for name in sorted(headers)) + "\n"


def amalgam(entry: str, taken: set[Path]) -> str:
    """The single-file form of an entry header, without the files of the entries before it."""
    paths: list[Path] = []
    for first in ("support/config.hpp", entry):  # which has the macros that mark what is lean
        visit(INCLUDE / "lathe" / first, taken, paths)
    foreign, declarations = region([path for path in paths if not is_body(path)])
    body_foreign, bodies = region([path for path in paths if is_body(path)])
    lower = ENTRIES[: ENTRIES.index(entry)][-1:]
    return (
        BANNER.format(entry=f"lathe/{entry}")
        + "".join(f"#include <lathe/{name}>\n" for name in lower)
        + include_lines(foreign)
        + declarations
        + "\n#if !defined(LATHE_SEPARATE_COMPILATION) || defined(LATHE_IMPLEMENTATION)\n\n"
        + include_lines(body_foreign - foreign)
        + bodies
        + "\n#endif\n"
    )


def main() -> int:
    check = "--check" in sys.argv[1:]
    taken: set[Path] = set()
    stale = []
    for entry in ENTRIES:
        if entry != ENTRIES[0] and not (INCLUDE / "lathe" / entry).exists():
            continue
        target = ROOT / "single_include" / "lathe" / entry
        text = amalgam(entry, taken)
        if target.exists() and target.read_text() == text:
            continue
        if check:
            stale.append(f"{show(target)} is not up to date: run tools/amalgamate.py")
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
    print("\n".join(stale) or "single_include is up to date")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
