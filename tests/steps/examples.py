"""The examples, compared with what they are expected to print."""

import sys
from collections.abc import Iterator

from .core import BUILD, ROOT, Case, Settings, Step, failed, passed, run
from .units import build


def examples(_: Settings) -> Iterator[Case]:
    """Builds and runs each example and compares its output."""
    for source in sorted((ROOT / "examples").glob("*.cpp")):
        output = build(BUILD, f"example_{source.stem}")
        if output.code == 0:
            output = run(sys.executable, ROOT / "tools" / "run_examples.py", "--quiet", BUILD / "examples", source.stem)
        name = f"example {source.stem}"
        yield passed(name) if output.code == 0 else failed(name, output.text)


STEPS = [Step("examples", examples)]
