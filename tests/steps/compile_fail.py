"""Programs that must not compile, and what each compiler must say about them."""

import re
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from .core import BUILD, ROOT, Case, Job, Output, Settings, Step, failed, passed, run, skipped

FOLDER = ROOT / "tests" / "compile_fail"
EXPECT = re.compile(r"^// expect: (.+)$", re.MULTILINE)


def precompile(compiler: str, flags: list[str]) -> tuple[list[str | Path], Output]:
    """Compiles the header that all sources include, once; gives what makes the compiler take that."""
    folder = BUILD.parent / "compile_fail"
    folder.mkdir(parents=True, exist_ok=True)
    header = folder / f"{compiler}.hpp"
    header.write_text("#include <lathe/lathe.hpp>\n")
    result = header.with_suffix(".hpp.gch")
    taken = ["-include-pch", result] if compiler == "clang++" else ["-include", header]
    return taken, run(compiler, *flags, "-x", "c++-header", header, "-o", result)


def check(name: str, source: Path, command: list[str | Path]) -> Case:
    output = run(*command, "-fsyntax-only", source)
    expected = EXPECT.findall(source.read_text())
    if not expected:  # the control file
        return passed(name) if output.code == 0 else failed(name, output.text, "must compile")
    if output.code == 0:
        return failed(name, "it compiles, but must not")
    missing = [text for text in expected if not re.search(text, output.text)]
    if missing:
        return failed(name, f"{output.text[:6000]}\nno line matches: {missing}")
    return passed(name)


def checks(compiler: str) -> Iterator[Case]:
    if not shutil.which(compiler):
        yield skipped(f"compile_fail ({compiler})", f"no {compiler}")
        return
    flags = ["-std=c++20", "-DLATHE_SEPARATE_COMPILATION", f"-I{ROOT / 'include'}"]
    taken, output = precompile(compiler, flags)
    if output.code != 0:
        yield failed(f"compile_fail ({compiler})", output.text)
        return
    for source in sorted(FOLDER.glob("*.cpp")):
        yield check(f"{source.stem} ({compiler})", source, [compiler, *flags, *taken])


def jobs(_: Settings) -> list[Job]:
    return [Job(f"compile_fail ({name})", partial(checks, name), seconds=18) for name in ("g++", "clang++")]


STEPS = [Step("compile_fail", "Compiles tests/compile_fail/*.cpp, which must fail with the expected message.", jobs)]
