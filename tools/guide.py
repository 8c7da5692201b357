"""Puts the code of the examples into docs/guide.md, so that what the guide shows is compiled and run.

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
GUIDE = ROOT / "docs" / "guide.md"
QUOTE = re.compile(r"^(<!-- (examples/\S+)(?: ([\w ]+))? -->\n```\w*\n)(.*?)(^```$)", re.MULTILINE | re.DOTALL)


def quoted(file: str, part: str | None) -> str:
    """The part of a file between two marker lines, or all of it, moved to the left margin."""
    text = (ROOT / file).read_text()
    if part:
        pieces = re.split(rf"^ *// \[{part}\]\n", text, flags=re.MULTILINE)
        if len(pieces) != 3:
            sys.exit(f"docs/guide.md quotes [{part}] of {file}, which has {len(pieces) - 1} such lines, not two")
        text = pieces[1]
    return textwrap.dedent(text).strip("\n") + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the page is not up to date")
    chosen = parser.parse_args()
    text = GUIDE.read_text()
    fresh = QUOTE.sub(lambda match: match[1] + quoted(match[2], match[3]) + match[5], text)
    if fresh == text:
        return 0
    if chosen.check:
        print("docs/guide.md does not show the examples as they are: run tools/guide.py")
        return 1
    GUIDE.write_text(fresh)
    return 0


if __name__ == "__main__":
    sys.exit(main())
