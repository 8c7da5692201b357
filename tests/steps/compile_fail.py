"""Programs that must not compile, and what each compiler must say about them."""

import re
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from .core import ROOT, Case, Settings, Step, failed, in_parallel, passed, run, skipped

FOLDER = ROOT / "tests" / "compile_fail"
EXPECT = re.compile(r"^// expect: (.+)$", re.MULTILINE)


def check(compiler: str, source: Path) -> Case:
    name = f"{source.stem} ({compiler})"
    if not shutil.which(compiler):
        return skipped(name, f"no {compiler}")
    output = run(
        compiler, "-std=c++20", "-fsyntax-only", "-DLATHE_SEPARATE_COMPILATION", f"-I{ROOT / 'include'}", source
    )
    expected = EXPECT.findall(source.read_text())
    if not expected:  # the control file
        return passed(name) if output.code == 0 else failed(name, output.text, "must compile")
    if output.code == 0:
        return failed(name, "it compiles, but must not")
    missing = [text for text in expected if not re.search(text, output.text)]
    if missing:
        return failed(name, f"{output.text[:6000]}\nno line matches: {missing}")
    return passed(name)


def compile_fail(_: Settings) -> Iterator[Case]:
    """Compiles tests/compile_fail/*.cpp, which must fail with the expected message."""
    sources = sorted(FOLDER.glob("*.cpp"))
    if not sources:
        yield skipped("compile_fail", "no sources yet")
    yield from in_parallel(partial(check, compiler, source) for source in sources for compiler in ("g++", "clang++"))


STEPS = [Step("compile_fail", compile_fail)]
