"""The main build, the doctest programs, and the contract program."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from .core import BUILD, JOBS, ROOT, Case, Output, Settings, Status, Step, command_case, failed, in_parallel, passed, run

WHOLE_PROGRAMS = ("polybench", "apps")
GROUPS = ("golden", "errors", "conformance", "meaning", "oracle", "docs", *WHOLE_PROGRAMS)
SUMMARY = re.compile(r"test cases:\s+(\d+) \|\s+(\d+) passed \|\s+(\d+) failed \|\s+(\d+) skipped")
# The leak checker's thread, which stops all others to look at their memory, may crash by itself (g++ 12).
LEAK_CHECK_BROKE = "LeakSanitizer has encountered a fatal error"
SKIP_LINE = re.compile(r"^skipped: (?:.*/)?(.*)$", re.MULTILINE)


def configure(folder: Path, *arguments: str) -> Output:
    common = ["-G", "Ninja", "-S", str(ROOT), "-B", str(folder), "-DLATHE_WERROR=ON", "-DLATHE_BUILD_TESTS=ON"]
    common += ["-DLATHE_BUILD_EXAMPLES=ON", "-DLATHE_BUILD_BENCH=OFF"]
    return run("cmake", *common, *arguments)


def build(folder: Path, *targets: str) -> Output:
    return run(
        "cmake", "--build", folder, "-j", str(JOBS), "--target", *targets, "--", "-k", "0", "--quiet", timeout=1500
    )


def doctest_case(name: str, program: Path, env: dict[str, str] | None = None, prefix: tuple[str, ...] = ()) -> Case:
    """Runs a doctest program and counts its test cases; a line 'skipped: why' takes one from the passed ones."""
    command = (*prefix, program, "--no-colors=true")
    output = run(*command, env=env)
    notes = set()
    if LEAK_CHECK_BROKE in output.text:
        notes.add("run again: the leak checker crashed")
        output = run(*command, env=env)
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
    units = sorted({path.parent.name for path in (ROOT / "tests" / "unit").glob("*/*_test.cpp")})
    groups = [name for name in GROUPS if any((ROOT / "tests" / name).glob("*_test.cpp"))]
    return [f"unit_{layer}" for layer in units] + groups


def run_programs(folder: Path, names: list[str], prefix: str = "", env: dict[str, str] | None = None) -> Iterator[Case]:
    """Builds doctest programs and runs them on all cores, the largest first."""
    output = build(folder, *names)
    if output.code != 0:
        yield failed(f"{prefix}build", output.text)
        return
    programs = sorted((folder / "tests" / name for name in names), key=lambda path: -path.stat().st_size)
    yield from in_parallel([partial(doctest_case, prefix + path.name.replace("_", " "), path, env) for path in programs])


def main_build(_: Settings) -> Iterator[Case]:
    """Configures and builds library, tests and examples in compiled mode, warnings as errors."""
    output = configure(BUILD, "-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-O2")
    if output.code == 0:
        output = build(BUILD, "all")
    yield passed("build") if output.code == 0 else failed("build", output.text)


def headers(_: Settings) -> Iterator[Case]:
    """Compiles each header alone."""
    output = build(BUILD, "all_verify_interface_header_sets")
    yield passed("headers alone") if output.code == 0 else failed("headers alone", output.text)


def units(_: Settings) -> Iterator[Case]:
    """Runs the doctest programs: one per layer, golden texts, error messages."""
    yield from run_programs(BUILD, doctest_programs())


def contract(_: Settings) -> Iterator[Case]:
    """Builds and runs the public interface by example."""
    output = build(BUILD, "contract")
    yield failed("contract", output.text) if output.code else command_case("contract", [BUILD / "tests" / "contract"])


STEPS = [Step("build", main_build), Step("headers", headers), Step("unit", units), Step("contract", contract)]
