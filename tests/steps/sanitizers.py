"""The library under other compilers' and tools' eyes: clang, sanitizers."""

from functools import partial

from .builds import CONFIGURED, build_case, tree_case
from .core import BUILD, JOBS, LAUNCHER, ROOT, WARNINGS, Case, Job, Settings, Step, command_case
from .units import WHOLE_PROGRAMS, doctest_programs, program_jobs

CONCURRENT = ("unit_runtime", "unit_jit")  # unit_jit_programs has programs that run in one thread
BUILD_SECONDS = {"asan": 120, "tsan": 40}
ENVIRONMENT = {
    "asan": {
        "ASAN_OPTIONS": "detect_stack_use_after_return=1:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    },
    "tsan": {"TSAN_OPTIONS": "halt_on_error=1:allocator_may_return_null=1"},
}
SANITIZERS = {"asan": "address,undefined", "tsan": "thread"}
# g++ 12 takes members of a moved std::optional for uninitialized under these.
SANITIZED_FLAGS = "-DCMAKE_CXX_FLAGS=-O1 -g1 -Wno-maybe-uninitialized"


def clang() -> Case:
    flags = ["-std=c++20", "-O0", *WARNINGS, "-DLATHE_SEPARATE_COMPILATION", f"-I{ROOT / 'include'}"]
    sources = [ROOT / "cmake" / "lathe.cpp", ROOT / "tests" / "contract" / "contract.cpp"]
    objects = [BUILD / f"{source.stem}.clang.o" for source in sources]
    program = BUILD / "contract_clang"
    return command_case(
        "clang",
        *([*LAUNCHER, "clang++", *flags, "-c", source, "-o", to] for source, to in zip(sources, objects, strict=True)),
        ["clang++", *objects, "-o", program, "-pthread", "-ldl"],
        [program],
    )


def clang_jobs(_: Settings) -> list[Job]:
    return [Job("clang", clang, 15)]


def programs(sanitizer: str) -> list[str]:
    if sanitizer == "tsan":
        return [name for name in doctest_programs() if name in CONCURRENT]
    return [name for name in doctest_programs() if name not in WHOLE_PROGRAMS]


def sanitized_jobs(sanitizer: str, _: Settings) -> list[Job]:
    """The library is sanitized, the tests are those of the main build: tests/sanitized.cmake."""
    built = f"{sanitizer} build"
    paths = [f"tests/{sanitizer}/{name}" for name in programs(sanitizer)]
    return [
        Job(built, partial(build_case, built, sanitizer), BUILD_SECONDS[sanitizer], (CONFIGURED,), JOBS),
        *program_jobs(f"{sanitizer} ", BUILD, paths, built, 5, ENVIRONMENT[sanitizer]),
    ]


def tree_jobs(label: str, arguments: list[str], names: list[str], env: dict[str, str] | None = None) -> list[Job]:
    """A build folder of its own, and its doctest programs."""
    folder, built = BUILD.parent / label, f"{label} build"
    return [
        Job(built, partial(tree_case, built, folder, arguments, names), 900, cores=JOBS),
        *program_jobs(f"{label} ", folder, [f"tests/{name}" for name in names], built, 20, env),
    ]


def all_sanitized_jobs(sanitizer: str, _: Settings) -> list[Job]:
    arguments = [f"-DLATHE_SANITIZE={SANITIZERS[sanitizer]}", SANITIZED_FLAGS]
    environment = {**ENVIRONMENT[sanitizer], "LATHE_THOROUGH": "1"}  # tests/support/sanitized.hpp
    return tree_jobs(f"{sanitizer}_tests", arguments, programs(sanitizer), environment)


def all_clang_jobs(_: Settings) -> list[Job]:
    # Without precompiled headers, so that tests name what they include.
    arguments = ["-DCMAKE_CXX_COMPILER=clang++", "-DCMAKE_CXX_FLAGS=-O2", "-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON"]
    return tree_jobs("clang_tests", arguments, doctest_programs())


STEPS = [
    Step("clang", "Builds the library and the contract with clang, and runs it.", clang_jobs),
    Step(
        "asan",
        "Runs the doctest programs with clang's address and undefined-behaviour sanitizers in the library.",
        partial(sanitized_jobs, "asan"),
    ),
    Step(
        "tsan",
        "Runs the concurrent parts with clang's thread sanitizer in the library.",
        partial(sanitized_jobs, "tsan"),
    ),
    Step("clang_tests", "Builds everything with clang, and runs the doctest programs.", all_clang_jobs, True),
    Step(
        "asan_tests",
        "Runs the doctest programs with g++'s sanitizers in library and tests.",
        partial(all_sanitized_jobs, "asan"),
        True,
    ),
    Step(
        "tsan_tests",
        "Runs the concurrent parts with g++'s thread sanitizer in library and tests.",
        partial(all_sanitized_jobs, "tsan"),
        True,
    ),
]
