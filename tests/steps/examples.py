"""The examples, compared with what they are expected to print."""

import sys
from functools import partial

from .builds import why_missing
from .core import BUILD, ROOT, Case, Job, Settings, Step, command_case, skipped


def example_case(name: str) -> Case:
    missing = why_missing(BUILD, f"examples/{name}")
    if missing:
        return skipped(f"example {name}", missing)
    tool = ROOT / "tools" / "run_examples.py"
    return command_case(f"example {name}", [sys.executable, tool, "--quiet", BUILD / "examples", name])


def jobs(_: Settings) -> list[Job]:
    names = sorted(source.stem for source in (ROOT / "examples").glob("*.cpp"))
    return [Job(f"example {name}", partial(example_case, name), after=("build",)) for name in names]


STEPS = [Step("examples", "Runs each example and compares its output.", jobs)]
