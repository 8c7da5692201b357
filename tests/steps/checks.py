"""Checks of the source tree that need no build."""

import sys
from collections.abc import Iterator

from .core import ROOT, Case, Settings, Step, command_case

TOOLS = {
    "layers": ["check_layers.py"],
    "source list": ["check_sources.py"],
    "single include": ["amalgamate.py", "--check"],
    "error ids": ["check_errors.py"],
    "sizes": ["size_report.py", "--check"],
}


def tree(_: Settings) -> Iterator[Case]:
    """Layers, source list, single include, error ids, sizes."""
    for name, (tool, *arguments) in TOOLS.items():
        yield command_case(name, [sys.executable, ROOT / "tools" / tool, *arguments])


STEPS = [Step("checks", tree)]
