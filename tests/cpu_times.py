"""The processor seconds of each test, its child processes included: pytest --cpu-times FILE.

Unlike --durations, the numbers hardly depend on what else the machine is doing. FILE gets a line
"seconds test" as each test ends; python tests/cpu_times.py FILE sums them by file. What a worker
needs to import and collect all tests is not in it.
"""

import os
import sys
from collections import defaultdict
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage

import pytest
from commands import SERVERS


def spent():
    """The processor seconds that this process, its finished children and the commands of its servers have used."""
    return sum(map(of_server, SERVERS)) + sum(
        usage.ru_utime + usage.ru_stime for usage in map(getrusage, (RUSAGE_SELF, RUSAGE_CHILDREN))
    )


def of_server(process):
    """The processor seconds that a process still running, and its finished children, have used; 0 but on Linux."""
    try:
        after_name = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return sum(map(int, after_name[11:15])) / os.sysconf("SC_CLK_TCK")


class CpuTimes:
    """The plug-in: a worker adds the seconds to its reports, the controller writes the file."""

    def __init__(self, path, writes):
        self.path, self.writes = path, writes
        self.seconds = defaultdict(float)
        self.mark = 0.0
        if writes:
            path.write_text("")

    def pytest_collection_finish(self):
        """Starts to count."""
        self.mark = spent()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self):
        report = yield
        self.mark, before = spent(), self.mark
        report.cpu_seconds = self.mark - before
        return report

    def pytest_runtest_logreport(self, report):
        """Adds up the phases of a test, and writes its line after the last one. A worker that crashed has no times."""
        self.seconds[report.nodeid] += getattr(report, "cpu_seconds", 0)
        if report.when == "teardown" and self.writes:
            with self.path.open("a") as file:
                file.write(f"{self.seconds[report.nodeid]:.2f} {report.nodeid}\n")


def by_file(lines):
    """The lines "seconds tests file" for lines of the plug-in's file, the longest first."""
    seconds, tests = defaultdict(float), defaultdict(int)
    for line in lines:
        cpu, test = line.split(" ", 1)
        for of in ("all", test.split("::")[0]):
            seconds[of] += float(cpu)
            tests[of] += 1
    for of in sorted(seconds, key=lambda of: -seconds[of]):
        yield f"{seconds[of]:8.1f} {tests[of]:6} {of}"


if __name__ == "__main__":
    print(*by_file(Path(sys.argv[1]).read_text().splitlines()), sep="\n")
