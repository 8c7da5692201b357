"""The examples, compared with what they are expected to print."""

import sys
from collections.abc import Iterator

from .core import BUILD, ROOT, Case, Settings, Step, failed, passed, run, skipped
from .units import build


def examples(_: Settings) -> Iterator[Case]:
    """Builds and runs each example and compares its output."""
    for source in sorted((ROOT / "examples").glob("*.cpp")):
        name = f"example {source.stem}"
        output = build(BUILD, f"example_{source.stem}")
        if "unknown target" in output.text:
            yield skipped(name, "a library that it needs is not installed")
            continue
        if output.code == 0:
            output = run(sys.executable, ROOT / "tools" / "run_examples.py", "--quiet", BUILD / "examples", source.stem)
        yield passed(name) if output.code == 0 else failed(name, output.text)


STEPS = [Step("examples", examples)]
