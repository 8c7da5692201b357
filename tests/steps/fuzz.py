"""Random programs, and random bytes where Lathe reads text."""

from collections.abc import Iterator
from functools import partial

from .core import BUILD, LAUNCHER, ROOT, Case, Job, Settings, Step, command_case, run

FOLDER = ROOT / "tests" / "fuzz"
GOLDEN = ROOT / "tests" / "golden"
ENVIRONMENT = {"LATHE_FUZZ_LIBRARY": str(BUILD / "liblathe.a"), "CXX": " ".join([*LAUNCHER, "c++"])}
CORPORA = {"parse_fuzz": GOLDEN / "ir", "trace_fuzz": GOLDEN / "traces"}


def bytes_case(name: str, settings: Settings) -> Case:
    """Runs a libFuzzer program, starting from the golden texts."""
    corpus = BUILD / name
    corpus.mkdir(parents=True, exist_ok=True)
    runs, seconds = (400000, 1200) if settings.thorough else (20000, 60)
    limits = [f"-runs={runs}", f"-seed={settings.seed}", f"-max_total_time={seconds}", "-max_len=4096"]
    case = command_case(
        f"fuzz {name}",
        [BUILD / "tests" / "asan" / name, *limits, f"-artifact_prefix={corpus}/", corpus, CORPORA[name]],
        timeout=2 * seconds + 120,
    )
    case.note = f"{runs} runs, seed {settings.seed}"
    return case


def program() -> Iterator[Case]:
    """Builds it before run.sh would, twice at once; run.sh tells what is wrong with it."""
    run("make", "--silent", "-f", FOLDER / "Makefile", "out=build/fuzz", env=ENVIRONMENT)
    yield from ()


def programs_case(name: str, cases: int, settings: Settings, *options: str) -> Case:
    """Runs tests/fuzz/run.sh with the library of the main build."""
    case = command_case(
        name,
        ["bash", FOLDER / "run.sh", "--cases", str(cases), "--seed", str(settings.seed), *options],
        timeout=7200 if settings.thorough else 900,
        env=ENVIRONMENT,
    )
    case.note = f"{cases} cases, seed {settings.seed}"
    return case


def jobs(settings: Settings) -> list[Job]:
    cases, as_c = (20000, 3000) if settings.thorough else (2000, 300)
    return [
        Job("fuzz program", program, 25, ("build",)),
        Job("fuzz", partial(programs_case, "fuzz", cases, settings), 130, ("fuzz program",)),
        Job("fuzz as C", partial(programs_case, "fuzz as C", as_c, settings, "--c"), 120, ("fuzz program",)),
        *(Job(f"fuzz {name}", partial(bytes_case, name, settings), 5, ("asan build",)) for name in CORPORA),
    ]


STEPS = [Step("fuzz", "Runs tests/fuzz/run.sh and the libFuzzer programs with a fresh seed.", jobs)]
