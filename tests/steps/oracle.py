"""A second opinion on what programs mean: an interpreter that shares no code with the evaluator."""

from .builds import why_missing
from .core import BUILD, Case, Job, Settings, Step, command_case, skipped


def oracle(settings: Settings) -> Case:
    missing = why_missing(BUILD, "tests/oracle_random")
    if missing:
        return skipped("oracle", missing)
    cases = 20000 if settings.thorough else 2000
    program = BUILD / "tests" / "oracle_random"
    case = command_case("oracle", [program, "--cases", str(cases), "--seed", str(settings.seed)], timeout=3600)
    case.note = f"{cases} programs, seed {settings.seed}"
    return case


def jobs(settings: Settings) -> list[Job]:
    return [Job("oracle", lambda: oracle(settings), seconds=20, after=("build",))]


ABOUT = "Compares the evaluator with tests/oracle on random programs under random schedules, with a fresh seed."
STEPS = [Step("oracle", ABOUT, jobs)]
