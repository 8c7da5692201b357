"""Puts the code of the examples into the guide, the page on kernels and README.md: what they show is compiled and run.

guide.py [--check]; with --check it writes nothing, and fails if the page is not up to date.

    <!-- examples/02_schedule.cpp schedule -->     the block of code below this line becomes what stands in that file
                                                   between its two lines '// [schedule]'; without a name, all of it
"""

import argparse
import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "docs" / "guide.md", ROOT / "docs" / "inside-a-kernel.md", ROOT / "README.md"]
MARKER = re.compile(r"^ *// \[[\w ]+\]\n", re.MULTILINE)
QUOTE = re.compile(r"^(<!-- (examples/\S+)(?: ([\w ]+))? -->\n```\w*\n)(.*?)(^```$)", re.MULTILINE | re.DOTALL)


def quoted(file: str, part: str | None) -> str:
    """The part of a file between two marker lines, or all of it, moved to the left margin."""
    text = (ROOT / file).read_text()
    if part:
        pieces = re.split(rf"^ *// \[{part}\]\n", text, flags=re.MULTILINE)
        if len(pieces) != 3:
            sys.exit(f"[{part}] of {file} is quoted, which has {len(pieces) - 1} such lines, not two")
        text = pieces[1]
    return textwrap.dedent(MARKER.sub("", text)).strip("\n") + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a page is not up to date")
    chosen = parser.parse_args()
    stale = False
    for page in PAGES:
        text = page.read_text()
        fresh = QUOTE.sub(lambda match: match[1] + quoted(match[2], match[3]) + match[5], text)
        if fresh == text:
            continue
        if chosen.check:
            print(f"{page.relative_to(ROOT)} does not show the examples as they are: run tools/guide.py")
            stale = True
        else:
            page.write_text(fresh)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
