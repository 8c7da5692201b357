"""Each supported LLVM that is installed, and none at all."""

from collections.abc import Iterator

from .core import BUILD, Case, Settings, Step, command_case, failed, run, skipped
from .units import build, doctest_case, doctest_programs

LIBRARIES = {"16": "libLLVM-16.so", "19": "libLLVM.so.19", "22": "libLLVM.so.22"}


def with_llvm(choice: str) -> Iterator[Case]:
    env = {"LATHE_LLVM": choice}
    yield command_case(f"llvm {choice} contract", [BUILD / "tests" / "contract"], env=env)
    if "unit_jit" in doctest_programs():
        yield doctest_case(f"llvm {choice} unit_jit", BUILD / "tests" / "unit_jit", env)


def versions(_: Settings) -> Iterator[Case]:
    """Runs contract and kernels with LLVM 16, 19, 22 and with none."""
    output = build(BUILD, "contract", *(name for name in doctest_programs() if name == "unit_jit"))
    if output.code != 0:
        yield failed("llvm", output.text)
        return
    installed = run("/sbin/ldconfig", "-p").text
    for version, library in LIBRARIES.items():
        if library in installed:
            yield from with_llvm(version)
        else:
            yield skipped(f"llvm {version}", f"no {library}")
    yield from with_llvm("off")


STEPS = [Step("llvm", versions)]
