"""Runs jobs side by side, and gives their cases as they end."""

import queue
import threading
import time
import traceback
from collections.abc import Iterator, Sequence

from .core import JOBS, Case, Job, failed

Timed = list[tuple[Case, float]]  # cases with the seconds that each took


def cases_of(job: Job) -> Timed:
    """What the job yields; an exception in it is a failed case."""
    timed: Timed = []
    start = time.monotonic()
    try:
        yielded = job.run()
        for case in [yielded] if isinstance(yielded, Case) else yielded:
            now = time.monotonic()
            timed.append((case, now - start))
            start = now
    except BaseException:  # also SystemExit: a job that ends without its cases would be waited for for ever
        timed.append((failed(job.name, traceback.format_exc()), time.monotonic() - start))
    return timed


def chains(jobs: Sequence[Job]) -> dict[str, float]:
    """For each job the seconds of the longest chain of jobs that begins with it."""
    names = [job.name for job in jobs]
    if len(set(names)) < len(names):
        raise ValueError(f"jobs of one name: {sorted(name for name in set(names) if names.count(name) > 1)}")
    found: dict[str, float] = {}
    waiting = list(jobs)
    while waiting:
        last = [job for job in waiting if not any(job.name in other.after for other in waiting)]
        if not last:
            raise ValueError(f"jobs wait for each other: {[job.name for job in waiting]}")
        for job in last:
            later = [found[other.name] for other in jobs if job.name in other.after]
            found[job.name] = job.seconds / job.cores + max(later, default=0.0)
        waiting = [job for job in waiting if job.name not in found]
    return found


class Schedule:
    """Jobs on `cores` cores: of those that may start, the one with the longest chain starts first."""

    def __init__(self, jobs: Sequence[Job], cores: int = JOBS) -> None:
        chain = chains(jobs)
        self.jobs = list(jobs)
        self.waiting = sorted(jobs, key=lambda job: -chain[job.name])
        self.cores = self.free = cores
        self.ended: queue.SimpleQueue[tuple[Job, Timed]] = queue.SimpleQueue()
        self.ran: set[str] = set()

    def as_they_end(self) -> Iterator[Timed]:
        """Each job's cases, as soon as they are there."""
        for _ in self.jobs:
            self._start()
            job, cases = self.ended.get()
            self.free += self._taken(job)
            self.ran.add(job.name)
            yield cases

    def _start(self) -> None:
        """A job of several cores needs one that is free: to hold the others back for it would leave that one idle."""
        pending = {job.name for job in self.jobs} - self.ran
        for job in [job for job in self.waiting if not pending.intersection(job.after)]:
            if self.free <= 0:
                break
            self.waiting.remove(job)
            self.free -= self._taken(job)
            threading.Thread(target=self._work, args=(job,), daemon=True).start()

    def _work(self, job: Job) -> None:
        self.ended.put((job, cases_of(job)))

    def _taken(self, job: Job) -> int:
        return min(job.cores, self.cores)
