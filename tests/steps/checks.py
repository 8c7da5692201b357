"""Checks of the source tree that need no build."""

import sys
from collections.abc import Iterator

from .core import ROOT, Case, Settings, Step, command_case

TOOLS = {
    "format": ["bash", "format.sh", "--check"],
    "layers": [sys.executable, "check_layers.py"],
    "source list": [sys.executable, "check_sources.py"],
    "single include": [sys.executable, "amalgamate.py", "--check"],
    "error ids": [sys.executable, "check_errors.py"],
    "guide": [sys.executable, "guide.py", "--check"],
    "sizes": [sys.executable, "size_report.py", "--check"],
}


def tree(_: Settings) -> Iterator[Case]:
    """Format, layers, source list, single include, error ids, guide, sizes."""
    for name, (program, tool, *arguments) in TOOLS.items():
        yield command_case(name, [program, ROOT / "tools" / tool, *arguments])


STEPS = [Step("checks", tree)]
