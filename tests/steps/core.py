"""What a step is made of: cases with a status, and ways to run a command."""

import enum
import os
import subprocess
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "run"
JOBS = max(1, min(os.cpu_count() or 1, 8))
Command = Sequence[str | Path]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wno-missing-field-initializers", "-Werror"]


class Status(enum.Enum):
    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass
class Case:
    """One line of the report; it may stand for several test cases."""

    name: str
    status: Status
    log: str = ""
    note: str = ""
    counts: dict[Status, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.counts = self.counts or {self.status: 1}


@dataclass(frozen=True)
class Settings:
    seed: int


@dataclass(frozen=True)
class Step:
    name: str
    run: Callable[[Settings], Iterable[Case]]

    def cases(self, settings: Settings) -> Iterator[Case]:
        """The step's cases; an exception in the step is a failed case."""
        try:
            yield from self.run(settings)
        except Exception:
            yield failed(self.name, traceback.format_exc())


@dataclass(frozen=True)
class Output:
    code: int
    text: str


def passed(name: str, note: str = "") -> Case:
    return Case(name, Status.PASSED, note=note)


def failed(name: str, log: str, note: str = "") -> Case:
    return Case(name, Status.FAILED, log=log, note=note)


def skipped(name: str, reason: str) -> Case:
    return Case(name, Status.SKIPPED, note=reason)


def run(*command: str | Path, cwd: Path = ROOT, timeout: float = 600, env: dict[str, str] | None = None) -> Output:
    """Runs a command without input; stdout and stderr come back as one text."""
    try:
        done = subprocess.run(
            [str(part) for part in command],
            cwd=cwd,
            env={**os.environ, **(env or {})},
            timeout=timeout,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        )
    except subprocess.TimeoutExpired as late:
        text = late.stdout or b""
        return Output(124, f"{text.decode(errors='replace')}\nstopped after {timeout:.0f} s: {command[0]}")
    return Output(done.returncode, done.stdout)


def command_case(name: str, *commands: Command, cwd: Path = ROOT, env: dict[str, str] | None = None) -> Case:
    """Passes when each command, one after the other, exits with 0."""
    for command in commands:
        output = run(*command, cwd=cwd, env=env)
        if output.code != 0:
            line = " ".join(str(part) for part in command)
            return failed(name, f"$ {line}\n{output.text}\nexit status {output.code}")
    return passed(name)


def in_parallel(jobs: Iterable[Callable[[], Case]]) -> Iterator[Case]:
    """Runs the jobs on all cores and yields their cases in the given order."""
    with ThreadPoolExecutor(JOBS) as pool:
        yield from pool.map(lambda job: job(), jobs)
