"""What the runner promises: order, cores, failures of all kinds. Run by the step `checks`."""

import sys
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from steps.core import Case, Job, Status, command_case, passed, run
from steps.schedule import Schedule, chains


def cases(jobs: list[Job], cores: int = 2) -> list[Case]:
    return [case for group in Schedule(jobs, cores).as_they_end() for case, _ in group]


class ScheduleTest(unittest.TestCase):
    def test_cases_come_as_jobs_end(self) -> None:
        jobs = [
            Job("last to end", lambda: passed("a"), seconds=1, after=("first to end",)),
            Job("first to end", lambda: [passed("b"), passed("c")], seconds=1),
        ]
        self.assertEqual([case.name for case in cases(jobs)], ["b", "c", "a"])

    def test_the_longest_chain_starts_first(self) -> None:
        started: list[str] = []
        jobs = [
            Job("alone", lambda: started.append("alone") or passed("alone"), seconds=5),
            Job("before", lambda: started.append("before") or passed("before"), seconds=1),
            Job("long", lambda: started.append("long") or passed("long"), seconds=10, after=("before",)),
        ]
        self.assertEqual(chains(jobs), {"alone": 5, "before": 11, "long": 10})
        cases(jobs, cores=1)
        self.assertEqual(started, ["before", "long", "alone"])

    def test_a_job_starts_only_where_a_core_is_free(self) -> None:
        lock, running, most = threading.Lock(), [0], [0]

        def work(cores: int) -> Case:
            with lock:
                most[0] = max(most[0], running[0])
                running[0] += cores
            time.sleep(0.01)
            with lock:
                running[0] -= cores
            return passed("work")

        jobs = [Job(f"{k}", lambda cores=1 + k % 3: work(cores), cores=1 + k % 3) for k in range(12)]
        self.assertEqual(len(cases(jobs, cores=3)), 12)
        self.assertLess(most[0], 3)

    def test_an_exception_is_a_failed_case_and_stops_nothing(self) -> None:
        def broken() -> Case:
            raise RuntimeError("broken job")

        first, second = cases([Job("broken", broken), Job("after it", lambda: passed("x"), after=("broken",))])
        self.assertEqual((first.name, first.status, second.status), ("broken", Status.FAILED, Status.PASSED))
        self.assertIn("broken job", first.log)

    def test_a_command_that_hangs_is_ended_with_its_children_and_its_output_kept(self) -> None:
        start = time.monotonic()
        case = command_case("hangs", ["bash", "-c", "echo so far; sleep 60 & sleep 60"], timeout=0.5)
        self.assertLess(time.monotonic() - start, 30)
        self.assertEqual(case.status, Status.FAILED)
        self.assertIn("so far", case.log)
        self.assertIn("stopped after", case.log)

    def test_what_a_command_leaves_behind_is_ended(self) -> None:
        child = int(run("bash", "-c", "sleep 60 >/dev/null 2>&1 & echo $!").text)
        stat = Path(f"/proc/{child}/stat")
        late = time.monotonic() + 30
        while stat.exists() and stat.read_text().split()[2] != "Z" and time.monotonic() < late:
            time.sleep(0.01)
        self.assertLess(time.monotonic(), late)

    def test_jobs_that_wait_for_each_other_are_refused(self) -> None:
        with self.assertRaises(ValueError):
            chains([Job("a", lambda: [], after=("b",)), Job("b", lambda: [], after=("a",))])


if __name__ == "__main__":
    unittest.main()
