"""Kernels for AArch64, run by an emulator: random programs, and each row of tensor_intrins()."""

import shutil
from pathlib import Path

from .builds import why_missing
from .core import BUILD, ROOT, Case, Job, Settings, Status, Step, command_case, skipped

NAME = "kernels for aarch64"
EMULATOR, LINKER = "qemu-aarch64", "aarch64-linux-gnu-ld"
LIBRARIES = {"libc.a": Path("/usr/aarch64-linux-gnu/lib"), "*/libgcc.a": Path("/usr/lib/gcc-cross/aarch64-linux-gnu")}


def aarch64(settings: Settings) -> Case:
    missing = why_missing(BUILD, "tests/aarch64_kernels")
    for tool in (EMULATOR, LINKER, "clang"):
        if not missing and not shutil.which(tool):
            missing = f"{tool} is not installed"
    for file, folder in LIBRARIES.items():
        if not missing and not list(folder.glob(file)):
            missing = f"{folder / file} is not installed"
    if missing:
        return skipped(NAME, missing)
    folder = BUILD / "aarch64"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    cases = 2000 if settings.thorough else 150
    options = ["--cases", str(cases), "--seed", str(settings.seed)]
    case = command_case(NAME, [BUILD / "tests" / "aarch64_kernels", folder, *options], timeout=1800)
    if case.status is Status.PASSED:
        flags = ["--target=aarch64-linux-gnu", "-static", "-O1", "-Wall", "-Werror", f"-I{folder}"]
        source = ROOT / "tests" / "aarch64" / "call_kernels.c"
        objects = sorted(folder.glob("*.o"))
        case = command_case(NAME, ["clang", *flags, source, *objects, "-lm", "-o", folder / "call"], timeout=600)
    if case.status is Status.PASSED:
        case = command_case(NAME, [EMULATOR, "-cpu", "max", folder / "call", folder / "data.bin"], timeout=600)
    case.note = f"{cases} programs, seed {settings.seed}"
    return case


def jobs(settings: Settings) -> list[Job]:
    return [Job("aarch64", lambda: aarch64(settings), seconds=8, after=("build",))]


ABOUT = "Compiles random programs for AArch64, and has qemu call them: the bytes are the evaluator's."
STEPS = [Step("aarch64", ABOUT, jobs)]
