"""Each supported LLVM that is installed, and none at all."""

from collections.abc import Iterator
from functools import partial

from .core import Case, Job, Settings, Step, run, skipped
from .units import contract_case, program_case

LIBRARIES = {"16": "libLLVM-16.so", "19": "libLLVM.so.19", "22": "libLLVM.so.22"}


def with_llvm(choice: str) -> Iterator[Case]:
    if choice in LIBRARIES and LIBRARIES[choice] not in run("/sbin/ldconfig", "-p").text:
        yield skipped(f"llvm {choice}", f"no {LIBRARIES[choice]}")
        return
    env = {"LATHE_LLVM": choice}
    yield contract_case(f"llvm {choice} contract", env)
    for program in ("unit_jit", "unit_jit_programs"):
        yield program_case(f"llvm {choice} {program}", f"tests/{program}", env=env)


def jobs(_: Settings) -> list[Job]:
    return [
        Job(f"llvm {choice}", partial(with_llvm, choice), seconds=15, after=("build",))
        for choice in (*LIBRARIES, "off")
    ]


STEPS = [Step("llvm", "Runs contract and kernels with LLVM 16, 19, 22 and with none.", jobs)]
