"""A second opinion on what programs mean: an interpreter that shares no code with the evaluator."""

from collections.abc import Iterator

from .core import BUILD, Case, Settings, Step, failed, passed, run
from .units import build

CASES = 2000


def oracle(settings: Settings) -> Iterator[Case]:
    """Compares the evaluator with tests/oracle on random programs under random schedules, with a fresh seed."""
    output = build(BUILD, "oracle_random")
    if output.code == 0:
        output = run(BUILD / "tests" / "oracle_random", "--cases", str(CASES), "--seed", str(settings.seed))
    note = f"{CASES} programs, seed {settings.seed}"
    yield passed("oracle", note) if output.code == 0 else failed("oracle", output.text, note)


STEPS = [Step("oracle", oracle)]
