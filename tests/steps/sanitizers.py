"""The library under other compilers' and tools' eyes: clang, sanitizers."""

from collections.abc import Iterator

from .core import BUILD, ROOT, WARNINGS, Case, Settings, Step, command_case, failed, skipped
from .units import WHOLE_PROGRAMS, configure, doctest_programs, run_programs

CONCURRENT = ("unit_runtime", "unit_jit")


def clang(_: Settings) -> Iterator[Case]:
    """Builds the library and the contract with clang, and runs it."""
    flags = ["-std=c++20", "-O0", *WARNINGS, "-DLATHE_SEPARATE_COMPILATION", f"-I{ROOT / 'include'}"]
    program = BUILD / "contract_clang"
    sources = [ROOT / "cmake" / "lathe.cpp", ROOT / "tests" / "contract" / "contract.cpp"]
    yield command_case("clang", ["clang++", *flags, *sources, "-o", program, "-pthread", "-ldl"], [program])


def sanitized(label: str, sanitizers: str, programs: list[str], env: dict[str, str]) -> Iterator[Case]:
    if not programs:
        yield skipped(label, "no sources yet")
        return
    folder = BUILD.parent / label
    # g++ 12 takes members of a moved std::optional for uninitialized under these.
    flags = "-DCMAKE_CXX_FLAGS=-O1 -g1 -Wno-maybe-uninitialized"
    arguments = [f"-DLATHE_SANITIZE={sanitizers}", "-DCMAKE_BUILD_TYPE=None", flags]
    output = configure(folder, *arguments, "-DLATHE_BUILD_EXAMPLES=OFF")
    if output.code != 0:
        yield failed(f"{label} configuration", output.text)
        return
    yield from run_programs(folder, programs, f"{label} ", env)


def asan(_: Settings) -> Iterator[Case]:
    """Runs the doctest programs with address and undefined-behaviour sanitizers."""
    env = {"ASAN_OPTIONS": "detect_stack_use_after_return=1:allocator_may_return_null=1", "UBSAN_OPTIONS": "print_stacktrace=1"}
    programs = [name for name in doctest_programs() if name not in WHOLE_PROGRAMS]
    yield from sanitized("asan", "address,undefined", programs, env)


def tsan(_: Settings) -> Iterator[Case]:
    """Runs the concurrent parts with the thread sanitizer."""
    programs = [name for name in doctest_programs() if name in CONCURRENT]
    yield from sanitized("tsan", "thread", programs, {"TSAN_OPTIONS": "halt_on_error=1:allocator_may_return_null=1"})


STEPS = [Step("clang", clang), Step("asan", asan), Step("tsan", tsan)]
