"""What a step is made of: jobs that yield cases, and ways to run a command."""

import contextlib
import enum
import os
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "run"
JOBS = max(1, min(os.cpu_count() or 1, 8))
LAUNCHER = ["ccache"] if shutil.which("ccache") else []  # before each compiler that makes an object file
Command = Sequence[str | Path]
# Paths below the root count as relative, and -g's folder does not count: copies of the tree share objects.
SHARED_CACHE = {"CCACHE_BASEDIR": str(ROOT), "CCACHE_NOHASHDIR": "1"}
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
    thorough: bool = False  # --all


@dataclass(frozen=True)
class Job:
    """A part of a step that runs beside others."""

    name: str
    run: Callable[[], Case | Iterable[Case]]
    seconds: float = 5  # of one core, about: the longest chain of jobs starts first
    after: tuple[str, ...] = ()  # the jobs that have ended before it starts, whatever came of them
    cores: int = 1


@dataclass(frozen=True)
class Step:
    name: str
    about: str
    jobs: Callable[[Settings], list[Job]]
    thorough: bool = False  # a step of --all


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


class Children:
    """The commands that run now, each the leader of a process group."""

    def __init__(self) -> None:
        self.groups: set[int] = set()
        self.lock = threading.Lock()
        self.stopped = False

    def start(self, command: Command, **settings) -> subprocess.Popen:
        with self.lock:
            if self.stopped:
                raise InterruptedError("the run was interrupted")
            child = subprocess.Popen([str(part) for part in command], start_new_session=True, **settings)
            self.groups.add(child.pid)
        return child

    def end(self, child: subprocess.Popen) -> None:
        """Ends what the command left behind, too."""
        with self.lock:
            self.groups.discard(child.pid)
            kill_group(child.pid)
        child.wait()

    def stop(self) -> None:
        with self.lock:
            self.stopped = True
            for group in self.groups:
                kill_group(group)


def kill_group(group: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


children = Children()


def run(*command: str | Path, cwd: Path = ROOT, timeout: float = 600, env: dict[str, str] | None = None) -> Output:
    """Runs a command without input; stdout and stderr come back as one text. One that hangs is ended."""
    with tempfile.TemporaryFile() as written:
        environment = {**os.environ, **SHARED_CACHE, **(env or {})}
        child = children.start(
            command, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, stdout=written, stderr=subprocess.STDOUT
        )
        late = ""
        try:
            code = child.wait(timeout)
        except subprocess.TimeoutExpired:
            code, late = 124, f"\nstopped after {timeout:.0f} s: {command[0]}"
        finally:
            children.end(child)
        written.seek(0)
        return Output(code, written.read().decode("utf-8", errors="replace") + late)


def command_case(
    name: str, *commands: Command, cwd: Path = ROOT, timeout: float = 600, env: dict[str, str] | None = None
) -> Case:
    """Passes when each command, one after the other, exits with 0."""
    for command in commands:
        output = run(*command, cwd=cwd, timeout=timeout, env=env)
        if output.code != 0:
            line = " ".join(str(part) for part in command)
            return failed(name, f"$ {line}\n{output.text}\nexit status {output.code}")
    return passed(name)
