"""What runs the tests: tests/schedule.py and tests/commands.py."""

import random
from types import SimpleNamespace

import commands
import pytest

Schedule = pytest.importorskip("schedule").Schedule
Producer = pytest.importorskip("xdist.remote").Producer


@pytest.mark.slow
def test_the_server_of_commands_ends_with_its_process(tmp_path):
    commands.server(tmp_path)
    server = commands.SERVERS.pop()
    assert server.stdin is not None
    server.stdin.close()
    assert server.wait(timeout=300) == 0


class Worker:
    """A worker that runs what it is sent, in that order, once it knows the next or that none comes."""

    def __init__(self):
        self.tests, self.ran, self.shutting_down = [], 0, False
        self.gateway = SimpleNamespace(id="a worker")

    def send_runtest_some(self, places):
        self.tests += places

    def shutdown(self):
        self.shutting_down = True

    @property
    def ready(self):
        return self.ran + 2 - self.shutting_down <= len(self.tests)


@pytest.mark.parametrize("count", [1, 2, 3, 7, 200])
def test_every_test_runs_once_and_groups_stay_together(count):
    generator = random.Random(count)
    tests = [
        f"test_{n // 20}.py::test_{n}[@]" + f"@group {n % 5}" * (n % 3 == 0) for n in range(count)
    ]
    option = SimpleNamespace(loadscopereorder=True, tx=["2*popen"], numprocesses=2)
    config = SimpleNamespace(option=option, getvalue=lambda name: getattr(option, name))
    scheduler = Schedule(config, Producer("schedule"))
    workers = [Worker(), Worker()]
    for worker in workers:
        scheduler.add_node(worker)
        scheduler.add_node_collection(worker, tests)
    scheduler.schedule()
    assert count == 1 or all(worker.tests for worker in workers)
    while ready := [worker for worker in workers if worker.ready]:
        worker = generator.choice(ready)
        worker.ran += 1
        scheduler.mark_test_complete(worker, worker.tests[worker.ran - 1])
    assert sorted(place for worker in workers for place in worker.tests) == [*range(count)]
    assert all(worker.ran == len(worker.tests) for worker in workers)
    groups = [
        {tests[place].split("]@")[1] for place in worker.tests if "]@" in tests[place]}
        for worker in workers
    ]
    assert groups[0].isdisjoint(groups[1])
    files = [
        {tests[place].split("::")[0] for place in worker.tests if "]@" not in tests[place]}
        for worker in workers
    ]
    assert len(files[0] & files[1]) <= 1  # the last
    assert scheduler.tests_finished and not scheduler.has_pending
