"""Programs that must not compile, and what each compiler must say about them."""

import re
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from .core import ROOT, Case, Job, Settings, Step, failed, passed, run, skipped

FOLDER = ROOT / "tests" / "compile_fail"
EXPECT = re.compile(r"^// expect: (.+)$", re.MULTILINE)


def check(compiler: str, source: Path) -> Case:
    name = f"{source.stem} ({compiler})"
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


def checks(compiler: str) -> Iterator[Case]:
    if not shutil.which(compiler):
        yield skipped(f"compile_fail ({compiler})", f"no {compiler}")
        return
    for source in sorted(FOLDER.glob("*.cpp")):
        yield check(compiler, source)


def jobs(_: Settings) -> list[Job]:
    return [Job(f"compile_fail ({name})", partial(checks, name), seconds=35) for name in ("g++", "clang++")]


STEPS = [Step("compile_fail", "Compiles tests/compile_fail/*.cpp, which must fail with the expected message.", jobs)]
