"""Whether the loops of all register tiles that fit a machine stay in registers."""

from .builds import why_missing
from .core import BUILD, Case, Job, Settings, Step, command_case, skipped


def tiles() -> Case:
    missing = why_missing(BUILD, "tests/tile_moves")
    if missing:
        return skipped("tiles", missing)
    return command_case("tiles", [BUILD / "tests" / "tile_moves"], timeout=3600)


def jobs(_: Settings) -> list[Job]:
    return [Job("tiles", tiles, seconds=20, after=("build",))]


ABOUT = "Compiles all register tiles, and looks for vectors that their loops move to or from the stack."
STEPS = [Step("tiles", ABOUT, jobs, thorough=True)]
