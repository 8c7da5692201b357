"""Build folders: what is configured, built, and there to be run."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from .core import BUILD, JOBS, ROOT, Case, Job, Output, Settings, Step, failed, passed, run

CONFIGURED = "configuration"
FAILED_OUTPUTS = re.compile(r"^FAILED: (?:\[code=\d+\] )?(.+)$", re.MULTILINE)


def configure(folder: Path, *arguments: str) -> Output:
    common = ["-G", "Ninja", "-S", str(ROOT), "-B", str(folder), "-DLATHE_WERROR=ON", "-DLATHE_BUILD_TESTS=ON"]
    return run("cmake", *common, "-DLATHE_BUILD_BENCH=OFF", "-DCMAKE_BUILD_TYPE=None", *arguments)


broken: dict[Path, set[str] | None] = {}  # what ninja could not make of a folder; None: anything


def build(folder: Path, *targets: str) -> Output:
    """Builds on all cores; the job that calls it takes all of them, so no other builds in the folder."""
    output = run("cmake", "--build", folder, f"-j{JOBS}", "--target", *targets, "--", "-k0", "--quiet", timeout=2400)
    if output.code != 0:
        names = {name for line in FAILED_OUTPUTS.findall(output.text) for name in line.split()}
        known = broken.setdefault(folder, set())
        broken[folder] = known | names if names and known is not None else None
    return output


def build_case(name: str, *targets: str) -> Case:
    output = build(BUILD, *targets)
    return passed(name) if output.code == 0 else failed(name, output.text)


def tree_case(name: str, folder: Path, arguments: Sequence[str], targets: Sequence[str]) -> Case:
    """Configures and builds a folder of its own."""
    output = configure(folder, *arguments, "-DLATHE_BUILD_EXAMPLES=OFF")
    if output.code == 0:
        output = build(folder, *targets)
    else:
        broken[folder] = None
    return passed(name) if output.code == 0 else failed(name, output.text)


def why_missing(folder: Path, program: str) -> str:
    """Why a program, given by its path in the build folder, cannot be run: "" if it is there and up to date."""
    if "unknown target" in run("ninja", "-C", folder, "-t", "query", program).text:
        return "a library that it needs is not installed"
    missing = broken.get(folder, set())
    if missing:
        missing = missing & {program, *run("ninja", "-C", folder, "-t", "inputs", program).text.split()}
    return "it was not built" if missing or missing is None or not (folder / program).exists() else ""


def configuration() -> Iterator[Case]:
    output = configure(BUILD, "-DLATHE_BUILD_EXAMPLES=ON", "-DCMAKE_CXX_FLAGS=-O2")
    if output.code != 0:
        broken[BUILD] = None
        yield failed(CONFIGURED, output.text)


def jobs(_: Settings) -> list[Job]:
    return [
        Job(CONFIGURED, configuration),
        Job("build", lambda: build_case("build", "all"), seconds=500, after=(CONFIGURED,), cores=JOBS),
    ]


STEPS = [
    Step("build", "Builds library, tests and examples in compiled mode, warnings as errors.", jobs),
    Step(
        "headers",
        "Compiles each header alone.",
        lambda _: [
            Job(
                "headers alone",
                lambda: build_case("headers alone", "all_verify_interface_header_sets"),
                seconds=120,
                after=(CONFIGURED,),
                cores=JOBS,
            )
        ],
    ),
]
