"""The doctest programs, and the contract program."""

import re
from functools import partial
from pathlib import Path

from .builds import why_missing
from .core import BUILD, ROOT, Case, Job, Settings, Status, Step, command_case, failed, run, skipped

WHOLE_PROGRAMS = ("polybench", "apps")
GROUPS = ("golden", "errors", "conformance", "meaning", "oracle", "math", "tiles", "docs", *WHOLE_PROGRAMS)
# Programs that take several times as long as the others.
LONG = {
    "unit_schedule": 10,
    "unit_lower_machine": 3,
    "unit_lower_loads": 3,
    "unit_lower_transposes": 3,
    "unit_autoschedule": 6,
    "unit_jit_programs": 5,
    "unit_jit": 3,
    "conformance": 4,
    "math": 4,
    "unit_codegen": 4,
    "unit_ir": 4,
    "unit_lower": 3,
    "polybench": 2,
}
SUMMARY = re.compile(r"test cases:\s+(\d+) \|\s+(\d+) passed \|\s+(\d+) failed \|\s+(\d+) skipped")
# The leak checker's thread, which stops all others to look at their memory, may crash by itself (g++ 12).
LEAK_CHECK_BROKE = "LeakSanitizer has encountered a fatal error"
SKIP_LINE = re.compile(r"^skipped: (?:.*/)?(.*)$", re.MULTILINE)


def doctest_case(name: str, program: Path, env: dict[str, str] | None = None) -> Case:
    """Runs a doctest program and counts its test cases; a line 'skipped: why' takes one from the passed ones."""
    output = run(program, "--no-colors=true", env=env)
    notes = set()
    if LEAK_CHECK_BROKE in output.text:
        notes.add("run again: the leak checker crashed")
        output = run(program, "--no-colors=true", env=env)
    if LEAK_CHECK_BROKE in output.text:
        notes = {"leaks were not looked for: the leak checker crashed twice"}
        options = (env or {}).get("ASAN_OPTIONS", "") + ":detect_leaks=0"
        output = run(program, "--no-colors=true", env={**(env or {}), "ASAN_OPTIONS": options})
    summary = SUMMARY.search(output.text)
    if not summary:
        return failed(name, f"{output.text}\nexit status {output.code}, and no summary", "; ".join(notes))
    passed_count, failed_count, skipped_count = (int(summary[index]) for index in (2, 3, 4))
    reasons = SKIP_LINE.findall(output.text)
    notes.update(reasons)
    if output.code != 0 and failed_count == 0:
        failed_count, passed_count = 1, max(0, passed_count - 1)
    counts = {
        Status.PASSED: passed_count - len(reasons),
        Status.FAILED: failed_count,
        Status.SKIPPED: skipped_count + len(reasons),
    }
    status = Status.FAILED if failed_count else Status.PASSED
    return Case(name, status, log=output.text, note="; ".join(sorted(notes)), counts=counts)


def doctest_programs() -> list[str]:
    """The names of the doctest programs that have sources (see tests/CMakeLists.txt)."""
    root = ROOT / "tests" / "unit"
    units = sorted({path.parent.relative_to(root).as_posix() for path in root.rglob("*_test.cpp")})
    groups = [name for name in GROUPS if any((ROOT / "tests" / name).glob("*_test.cpp"))]
    return [f"unit_{folder.replace('/', '_')}" for folder in units] + groups


def program_case(name: str, program: str, folder: Path = BUILD, env: dict[str, str] | None = None) -> Case:
    """Runs a doctest program, given by its path in a build folder, if it is there."""
    missing = why_missing(folder, program)
    return skipped(name, missing) if missing else doctest_case(name, folder / program, env)


def program_jobs(
    prefix: str, folder: Path, programs: list[str], built: str, seconds: float, env: dict[str, str] | None = None
) -> list[Job]:
    """Runs doctest programs that the job `built` has built."""
    jobs = []
    for program in programs:
        target = Path(program).name
        name = prefix + target.replace("_", " ")
        weight = seconds * LONG.get(target, 1)
        jobs.append(Job(name, partial(program_case, name, program, folder, env), weight, (built,)))
    return jobs


def contract_case(name: str, env: dict[str, str] | None = None) -> Case:
    missing = why_missing(BUILD, "tests/contract")
    return skipped(name, missing) if missing else command_case(name, [BUILD / "tests" / "contract"], env=env)


def unit_jobs(_: Settings) -> list[Job]:
    return program_jobs("", BUILD, [f"tests/{name}" for name in doctest_programs()], "build", 2)


STEPS = [
    Step("unit", "Runs the doctest programs: one per layer, golden texts, error messages.", unit_jobs),
    Step(
        "contract",
        "Runs the public interface by example.",
        lambda _: [Job("contract", partial(contract_case, "contract"), after=("build",))],
    ),
]
