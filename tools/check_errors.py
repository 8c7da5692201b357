"""Checks that each error id of the library has one heading in docs/errors.md, and that the page has no other.

The page is put together from docs/errors.d/*.md by --write; each of these files holds sections '## L0203 title'.
"""

import re
import sys
from collections import Counter

from lathe_tree import ROOT, files, show

PARTS = ROOT / "docs" / "errors.d"
PAGE = ROOT / "docs" / "errors.md"
ID = re.compile(r"\"(L0\d{3})\"")
COMMENT = re.compile(r"//.*")
SECTION = re.compile(r"^(?=## )", re.MULTILINE)
HEADING = re.compile(r"## (L0\d{3}) \S")
INTRODUCTION = """\
# Errors

Each mistake in a calling program is a `lathe::UserError` with one of these ids; the call that threw changed nothing.
This page is put together from `docs/errors.d` by `tools/check_errors.py --write`.

"""


def sections() -> list[str]:
    """All sections, by id."""
    texts = [path.read_text() for path in sorted(PARTS.glob("*.md"))]
    found = [part.strip() for text in texts for part in SECTION.split(text) if part.startswith("## ")]
    return sorted(found)


def expected() -> str:
    return INTRODUCTION + "\n\n".join(sections()) + "\n"


def problems() -> list[str]:
    used: dict[str, str] = {}
    for path in files("*.[hi]pp"):
        for name in ID.findall(COMMENT.sub("", path.read_text())):
            used.setdefault(name, show(path))
    headings = Counter(match[1] if (match := HEADING.match(text)) else text.split("\n")[0] for text in sections())
    found = [f"{used[name]}: {name} has no heading in {show(PARTS)}/*.md" for name in sorted(set(used) - set(headings))]
    found += [f"{name}: a heading, but no code uses it" for name in sorted(set(headings) - set(used))]
    found += [f"{name}: {count} headings" for name, count in sorted(headings.items()) if count > 1]
    if not PAGE.exists() or PAGE.read_text() != expected():
        found.append(f"{show(PAGE)} is not up to date: run tools/check_errors.py --write")
    return found


def main() -> int:
    if "--write" in sys.argv[1:]:
        PAGE.write_text(expected())
    found = problems()
    print("\n".join(found) or f"{len(sections())} error ids, each with its heading")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
