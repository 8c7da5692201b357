"""Checks of the source tree that need no build."""

import sys
from functools import partial

from .core import Job, Settings, Step, command_case

CHECKS = {
    "format": ["bash", "tools/format.sh", "--check"],
    "layers": [sys.executable, "tools/check_layers.py"],
    "source list": [sys.executable, "tools/check_sources.py"],
    "single include": [sys.executable, "tools/amalgamate.py", "--check"],
    "error ids": [sys.executable, "tools/check_errors.py"],
    "guide": [sys.executable, "tools/guide.py", "--check"],
    "sizes": [sys.executable, "tools/size_report.py", "--check"],
    "test runner": [sys.executable, "tests/steps/schedule_test.py"],
}


def jobs(_: Settings) -> list[Job]:
    return [Job(name, partial(command_case, name, command)) for name, command in CHECKS.items()]


STEPS = [Step("checks", "Format, layers, source list, single include, error ids, guide, sizes, test runner.", jobs)]
