"""CUDA sources, compiled where nvcc is installed; running them needs a GPU."""

import os
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from .core import BUILD, ROOT, Case, Job, Settings, Step, command_case, skipped

SOURCES = [ROOT / "tests" / "package" / "in_cuda.cu", *sorted((ROOT / "bench" / "gpu").glob("*.cu"))]
SEARCH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/local/cuda/bin"])
# 549: of a list that is filled by a loop, nvcc takes the size for unset.
FLAGS = ["-std=c++20", "-O0", "--extended-lambda", "-gencode=arch=compute_90a,code=sm_90a", "-diag-suppress", "549"]


def compiled(name: str, source: Path) -> Iterator[Case]:
    nvcc = shutil.which("nvcc", path=SEARCH)
    if not nvcc:
        yield skipped(name, "no nvcc")
        return
    include = ["-DLATHE_SEPARATE_COMPILATION", f"-I{ROOT / 'include'}"]
    yield command_case(name, [nvcc, *FLAGS, *include, "-c", source, "-o", BUILD / f"{source.stem}.cu.o"])


def jobs(_: Settings) -> list[Job]:
    names = {f"cuda {source.stem}": source for source in SOURCES}
    return [Job(name, partial(compiled, name, source), 15) for name, source in names.items()]


STEPS = [Step("cuda", "Compiles the programs of bench/gpu and a CUDA source that includes Lathe.", jobs, True)]
