"""Lathe as a stranger meets it: installed, as a subproject, as a single file, under other flags."""

import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from .core import (
    BUILD,
    ROOT,
    WARNINGS,
    Case,
    Command,
    Settings,
    Step,
    command_case,
    failed,
    in_parallel,
    passed,
    run,
    skipped,
)

SOURCES = ROOT / "tests" / "package"
WORK = BUILD.parent / "package"
STAGE = WORK / "stage"
CONSUMER = SOURCES / "consumer.cpp"
HEADERS = f"-I{ROOT / 'include'}"
LIBRARIES = ["-pthread", "-ldl"]


def compile_command(output: str, *arguments: str | Path) -> Command:
    return ["g++", "-std=c++20", "-O0", *WARNINGS, *arguments, "-o", WORK / output]


def with_cmake(name: str, *programs: str) -> Case:
    folder = WORK / name
    configure: Command = ["cmake", "-G", "Ninja", "-S", SOURCES / name, "-B", folder, f"-DCMAKE_PREFIX_PATH={STAGE}"]
    runs = [[folder / program] for program in programs]
    return command_case(name, [*configure, "-DCMAKE_CXX_COMPILER_LAUNCHER="], ["cmake", "--build", folder], *runs)


def with_pkg_config(module: str) -> Case:
    env = {"PKG_CONFIG_PATH": f"{next(STAGE.glob('lib*/**/pkgconfig'))}"}
    flags = run("pkg-config", "--cflags", "--libs", module, env=env)
    if flags.code != 0:
        return failed(f"pkg_config {module}", flags.text)
    return command_case(f"pkg_config {module}", compile_command(module, CONSUMER, *flags.text.split()), [WORK / module])


def single_include() -> Case:
    return command_case(
        "single_include",
        compile_command(
            "single", ROOT / "tests" / "contract" / "contract.cpp", f"-I{ROOT / 'single_include'}", *LIBRARIES
        ),
        [WORK / "single"],
    )


def with_flags(name: str, *flags: str) -> Case:
    return command_case(name, compile_command(name, CONSUMER, HEADERS, *flags, *LIBRARIES), [WORK / name])


def crowded(compiler: str) -> Case:
    name = f"after all other headers ({compiler})"
    if not shutil.which(compiler):
        return skipped(name, f"no {compiler}")
    return command_case(name, [compiler, "-std=c++20", "-fsyntax-only", HEADERS, SOURCES / "crowded.cpp"])


def strict_warnings(compiler: str, mode: str) -> Case:
    """Warnings that a host's project may have on: nothing in the headers may set them off."""
    name = f"strict warnings ({compiler}, {mode})"
    if not shutil.which(compiler):
        return skipped(name, f"no {compiler}")
    flags = ["-Wconversion", "-Wsign-conversion", "-Wold-style-cast", "-Wshadow", "-fsyntax-only", HEADERS]
    if mode == "compiled":
        flags.append("-DLATHE_SEPARATE_COMPILATION")
    command = [compiler, "-std=c++20", *WARNINGS, *flags]
    contract = ROOT / "tests" / "contract" / "contract.cpp"  # whose own lines mix signs
    return command_case(name, [*command, SOURCES / "consumer.cpp"], [*command, "-Wno-sign-conversion", contract])


def no_exceptions(compiler: str) -> Case:
    """A build without exceptions fails with one line that says so."""
    name = f"no exceptions ({compiler})"
    if not shutil.which(compiler):
        return skipped(name, f"no {compiler}")
    output = run(compiler, "-std=c++20", "-fno-exceptions", "-fsyntax-only", HEADERS, SOURCES / "consumer.cpp")
    wanted = "lathe reports errors by exceptions"
    return passed(name) if output.code and wanted in output.text else failed(name, output.text, wanted)


def odr() -> Case:
    """Compiles one kernel file twice, once for AVX-512, and links both in both orders."""
    folder = SOURCES / "odr"
    halves: dict[str, list[str]] = {"plain": [], "wide": ["-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl"]}
    objects = [
        compile_command(f"{name}.o", folder / "kernel.cpp", "-c", HEADERS, f"-DLATHE_ODR_NAME={name}", *flags)
        for name, flags in halves.items()
    ]
    links = [
        compile_command(f"odr_{first}", folder / "main.cpp", WORK / f"{first}.o", WORK / f"{second}.o", *LIBRARIES)
        for first, second in (("plain", "wide"), ("wide", "plain"))
    ]
    has_avx512 = "avx512vl" in Path("/proc/cpuinfo").read_text()
    programs = [[WORK / "odr_plain"], [WORK / "odr_wide"]] if has_avx512 else [[WORK / "odr_plain"]]
    return command_case("odr", *objects, *links, *programs)


def plugin() -> Case:
    """Loads one shared library twice, under two names."""
    folder = SOURCES / "plugin"
    shared = ["-shared", "-fPIC", "-fvisibility=hidden", HEADERS]
    return command_case(
        "plugin",
        compile_command("plugin_a.so", folder / "plugin.cpp", *shared, *LIBRARIES),
        ["cp", WORK / "plugin_a.so", WORK / "plugin_b.so"],
        compile_command("plugin_host", folder / "main.cpp", *LIBRARIES),
        [WORK / "plugin_host", WORK / "plugin_a.so", WORK / "plugin_b.so"],
    )


def package(_: Settings) -> Iterator[Case]:
    """Installs the library and uses it in each way in which a stranger would."""
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    yield command_case("install", ["cmake", "--install", BUILD, "--prefix", STAGE])
    yield from in_parallel(
        [
            partial(with_cmake, "find_package", "header_only", "compiled"),
            *(partial(crowded, compiler) for compiler in ("g++", "clang++")),
            partial(with_cmake, "add_subdirectory", "consumer"),
            partial(with_pkg_config, "lathe"),
            partial(with_pkg_config, "lathe-compiled"),
            single_include,
            partial(with_flags, "no_rtti", "-fno-rtti"),
            partial(with_flags, "llvm_off", "-DLATHE_LLVM_OFF"),
            partial(with_flags, "llvm_linked", "-DLATHE_LLVM_LINK", "-l:libLLVM.so.19.1"),
            *(partial(no_exceptions, compiler) for compiler in ("g++", "clang++")),
            *(partial(strict_warnings, c, mode) for c in ("g++", "clang++") for mode in ("compiled", "header-only")),
            odr,
            plugin,
        ]
    )


STEPS = [Step("package", package)]
