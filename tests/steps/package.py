"""Lathe as a stranger meets it: installed, as a subproject, as a single file, under other flags.

What a way of use changes at compile time is checked by -fsyntax-only; the single file, the installed package, `odr`
and `plugin` are linked with all bodies and run.
"""

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

from .core import (
    BUILD,
    LAUNCHER,
    ROOT,
    WARNINGS,
    Case,
    Command,
    Job,
    Settings,
    Step,
    command_case,
    failed,
    passed,
    run,
    skipped,
)

SOURCES = ROOT / "tests" / "package"
WORK = BUILD.parent / "package"
STAGE = WORK / "stage"
CONSUMER = SOURCES / "consumer.cpp"
CONTRACT = ROOT / "tests" / "contract" / "contract.cpp"
HEADERS = f"-I{ROOT / 'include'}"
COMPILED = "-DLATHE_SEPARATE_COMPILATION"
LIBRARIES = ["-pthread", "-ldl"]
FLAGS = ["-std=c++20", "-O0", *WARNINGS]


def compiled(output: str, source: Path, *flags: str) -> Command:
    WORK.mkdir(parents=True, exist_ok=True)
    return [*LAUNCHER, "g++", *FLAGS, *flags, "-c", source, "-o", WORK / output]


def linked(output: str, *arguments: str | Path) -> Command:
    return ["g++", *arguments, "-o", WORK / output]


def accepted(*arguments: str | Path, compiler: str = "g++") -> Command:
    return [compiler, *FLAGS, "-fsyntax-only", *arguments]


def install() -> Case:
    shutil.rmtree(STAGE, ignore_errors=True)
    return command_case("install", ["cmake", "--install", BUILD, "--prefix", STAGE])


def with_cmake(name: str, *programs: str) -> Case:
    folder = WORK / name
    shutil.rmtree(folder, ignore_errors=True)
    launcher = f"-DCMAKE_CXX_COMPILER_LAUNCHER={';'.join(LAUNCHER)}"
    configure = ["cmake", "-G", "Ninja", "-S", SOURCES / name, "-B", folder, f"-DCMAKE_PREFIX_PATH={STAGE}", launcher]
    runs = [[folder / program] for program in programs]
    return command_case(name, configure, ["cmake", "--build", folder, "-j1"], *runs)


def with_pkg_config(module: str, case: Callable[[list[str]], list[Command]]) -> Case:
    env = {"PKG_CONFIG_PATH": f"{next(STAGE.glob('lib*/**/pkgconfig'))}"}
    flags = run("pkg-config", "--cflags", "--libs", module, env=env)
    if flags.code != 0:
        return failed(f"pkg_config {module}", flags.text)
    return command_case(f"pkg_config {module}", *case(flags.text.split()))


def single_include() -> Case:
    return command_case(
        "single_include",
        compiled("single.o", CONTRACT, f"-I{ROOT / 'single_include'}"),
        linked("single", WORK / "single.o", *LIBRARIES),
        [WORK / "single"],
    )


def with_llvm(name: str, define: str, *libraries: str) -> Case:
    """The layer that LATHE_LLVM_… concerns, compiled with it, before the library that has the others."""
    return command_case(
        name,
        compiled(f"{name}.runtime.o", BUILD / "compiled" / "runtime.cpp", HEADERS, COMPILED, define),
        compiled(f"{name}.o", CONSUMER, HEADERS, COMPILED, define),
        linked(name, WORK / f"{name}.o", WORK / f"{name}.runtime.o", BUILD / "liblathe.a", *LIBRARIES, *libraries),
        [WORK / name],
    )


def implementation(name: str, compiler: str) -> Case:
    """Declarations in one file of a program, the bodies in another."""
    WORK.mkdir(parents=True, exist_ok=True)
    bodies, program = WORK / f"bodies_{compiler}.o", WORK / f"implementation_{compiler}"
    command: Command = [*LAUNCHER, compiler, *FLAGS, f"-I{ROOT / 'single_include'}"]
    return command_case(
        name,
        [*command, "-c", SOURCES / "implementation" / "bodies.cpp", "-o", bodies],
        [*command, COMPILED, "-c", CONSUMER, "-o", WORK / f"declarations_{compiler}.o"],
        [compiler, WORK / f"declarations_{compiler}.o", bodies, *LIBRARIES, "-o", program],
        [program],
    )


def crowded(name: str, compiler: str) -> Case:
    return command_case(name, [compiler, "-std=c++20", "-fsyntax-only", HEADERS, SOURCES / "crowded.cpp"])


def strict_warnings(name: str, compiler: str) -> Case:
    """Warnings that a host's project may have on: nothing in the headers may set them off."""
    strict = [HEADERS, "-Wconversion", "-Wsign-conversion", "-Wold-style-cast", "-Wshadow"]
    return command_case(
        name,
        accepted(*strict, CONSUMER, compiler=compiler),
        accepted(*strict, CONSUMER, COMPILED, compiler=compiler),
        accepted(*strict, CONTRACT, COMPILED, "-Wno-sign-conversion", compiler=compiler),  # its own lines mix signs
    )


def no_exceptions(name: str, compiler: str) -> Case:
    """A build without exceptions fails with one line that says so."""
    output = run(compiler, "-std=c++20", "-fno-exceptions", "-Wfatal-errors", "-fsyntax-only", HEADERS, CONSUMER)
    wanted = "lathe reports errors by exceptions"
    return passed(name) if output.code and wanted in output.text else failed(name, output.text, wanted)


def odr() -> Case:
    """Compiles one kernel file twice, once for AVX-512, and links both in both orders."""
    folder = SOURCES / "odr"
    halves: dict[str, list[str]] = {"plain": [], "wide": ["-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl"]}
    objects = [
        compiled(f"{name}.o", folder / "kernel.cpp", HEADERS, f"-DLATHE_ODR_NAME={name}", *flags)
        for name, flags in halves.items()
    ]
    links = [
        linked(f"odr_{first}", WORK / "odr.o", WORK / f"{first}.o", WORK / f"{second}.o", *LIBRARIES)
        for first, second in (("plain", "wide"), ("wide", "plain"))
    ]
    has_avx512 = "avx512vl" in Path("/proc/cpuinfo").read_text()
    programs = [[WORK / "odr_plain"], [WORK / "odr_wide"]] if has_avx512 else [[WORK / "odr_plain"]]
    return command_case("odr", *objects, compiled("odr.o", folder / "main.cpp"), *links, *programs)


def plugin() -> Case:
    """Loads one shared library twice, under two names."""
    folder = SOURCES / "plugin"
    return command_case(
        "plugin",
        compiled("plugin.o", folder / "plugin.cpp", HEADERS, "-fPIC", "-fvisibility=hidden"),
        linked("plugin_a.so", WORK / "plugin.o", "-shared", *LIBRARIES),
        ["cp", WORK / "plugin_a.so", WORK / "plugin_b.so"],
        compiled("plugin_host.o", folder / "main.cpp"),
        linked("plugin_host", WORK / "plugin_host.o", *LIBRARIES),
        [WORK / "plugin_host", WORK / "plugin_a.so", WORK / "plugin_b.so"],
    )


def of_both_compilers(name: str, case: Callable[[str, str], Case], seconds: float) -> list[Job]:
    def run_or_skip(full_name: str, compiler: str) -> Case:
        return case(full_name, compiler) if shutil.which(compiler) else skipped(full_name, f"no {compiler}")

    names = {f"{name} ({compiler})": compiler for compiler in ("g++", "clang++")}
    return [Job(full, partial(run_or_skip, full, compiler), seconds) for full, compiler in names.items()]


def jobs(_: Settings) -> list[Job]:
    staged = ("install",)
    module = {"lathe": lambda flags: [accepted(CONSUMER, *flags)]}
    module["lathe-compiled"] = lambda flags: [
        compiled("module.o", CONSUMER, *flags),
        linked("module", WORK / "module.o", *flags),
        [WORK / "module"],
    ]
    return [
        Job("install", install, after=("build",)),
        Job("find_package", partial(with_cmake, "find_package", "header_only", "compiled"), 25, staged),
        Job("add_subdirectory", partial(with_cmake, "add_subdirectory"), 6),
        *(Job(f"pkg_config {name}", partial(with_pkg_config, name, case), 5, staged) for name, case in module.items()),
        Job("single_include", single_include, 25),
        Job("no_rtti", lambda: command_case("no_rtti", accepted(CONSUMER, HEADERS, "-fno-rtti"))),
        Job("llvm_off", partial(with_llvm, "llvm_off", "-DLATHE_LLVM_OFF"), after=("build",)),
        Job(
            "llvm_linked",
            partial(with_llvm, "llvm_linked", "-DLATHE_LLVM_LINK", "-l:libLLVM.so.19.1"),
            after=("build",),
        ),
        *of_both_compilers("implementation", implementation, 30),
        *of_both_compilers("after all other headers", crowded, 8),
        *of_both_compilers("no exceptions", no_exceptions, 1),
        *of_both_compilers("strict warnings", strict_warnings, 10),
        Job("odr", odr, 45),
        Job("plugin", plugin, 25),
    ]


STEPS = [Step("package", "Installs the library and uses it in each way in which a stranger would.", jobs)]
