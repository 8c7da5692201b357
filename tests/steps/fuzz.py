"""Random programs, and random bytes where Lathe reads text."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from .core import BUILD, ROOT, Case, Settings, Step, command_case, failed, in_parallel, passed, run

FOLDER = ROOT / "tests" / "fuzz"
GOLDEN = ROOT / "tests" / "golden"
CORPORA = {"parse_fuzz": GOLDEN / "ir", "trace_fuzz": GOLDEN / "traces"}
CASES = 2000
BYTE_RUNS = 20000


def bytes_case(source: Path, seed: int) -> Case:
    """Builds a libFuzzer program and runs it, starting from the golden texts."""
    corpus = BUILD / source.stem
    corpus.mkdir(parents=True, exist_ok=True)
    program = BUILD / f"{source.stem}.program"
    flags = ["-std=c++20", "-O1", "-g1", "-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=all"]
    limits = [f"-runs={BYTE_RUNS}", f"-seed={seed}", "-max_total_time=60", "-max_len=4096"]
    case = command_case(
        f"fuzz {source.stem}",
        ["clang++", *flags, f"-I{ROOT / 'include'}", source, "-o", program, "-pthread", "-ldl"],
        [program, *limits, f"-artifact_prefix={corpus}/", corpus, CORPORA[source.stem]],
    )
    case.note = f"{BYTE_RUNS} runs, seed {seed}"
    return case


def programs_case(seed: int) -> Case:
    """Runs tests/fuzz/run.sh."""
    output = run("bash", FOLDER / "run.sh", "--cases", str(CASES), "--seed", str(seed))
    note = f"{CASES} cases, seed {seed}"
    return passed("fuzz", note) if output.code == 0 else failed("fuzz", output.text, note)


def fuzz(settings: Settings) -> Iterator[Case]:
    """Runs tests/fuzz/run.sh and the libFuzzer programs with a fresh seed."""
    jobs = [partial(bytes_case, source, settings.seed) for source in sorted(FOLDER.glob("*_fuzz.cpp"))]
    yield from in_parallel([partial(programs_case, settings.seed), *jobs])


STEPS = [Step("fuzz", fuzz)]
