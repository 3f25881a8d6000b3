"""Mutation testing: faults are put into a copy in memory, one at a time, and the tests must fail.

A sample of small changes to the simplifier, the lowering and the printers. First all tests run
once, and it is noted which lines each of them and each random case reaches (--folder keeps that).
Then each mutant meets the tests that reach its line, the quickest first, and the random cases that
do, until one fails. Nothing in the tree is edited; what is done is not done again.
"""

import argparse
import functools
import gzip
import importlib.abc
import importlib.machinery
import json
import math
import os
import resource
import shutil
import signal
import sys
import time
import tomllib
import zlib
from collections import Counter, defaultdict
from multiprocessing import Pipe, get_context
from multiprocessing.connection import wait
from pathlib import Path

import pytest

from .mutants import ROOT, paths, sample
from .trace import Lines

# What tests the project's pages and packages, and what the random cases stand for.
LEFT_OUT = (
    "docs", "embed", "gpu", "house", "import", "net", "mutation", "notebook", "playground", "wheel",
)  # fmt: skip
FILE = 240.0  # seconds on the wall for one file of tests, when it is measured
CHUNK = 60  # random cases measured in one process
TESTS = 90.0  # seconds of tests that a mutant meets
CASES = 45.0  # seconds of random cases
ALONE = 25.0  # seconds that a test may take beyond ten times what it took
SLOW = 20.0  # a test that takes longer is not used
MEMORY = 4 << 30
FORK = get_context("fork")
OPTIONS = [
    "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header", "--tb=no",
    "--assert=plain",  # rewriting assertions would import modules as they are, not the mutants
]  # fmt: skip


def parse(arguments):
    parser = argparse.ArgumentParser(prog="ci/mutate", description=__doc__.partition("\n")[2])
    parser.add_argument("--mutants", type=int, default=640, help="how many, about (default: 640)")
    parser.add_argument("--seed", type=int, default=1, help="what decides which (default: 1)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at once")
    parser.add_argument("--minutes", type=float, default=math.inf, help="stop after so many")
    parser.add_argument("--cases", type=int, default=2400, help="random cases (default: 2400)")
    parser.add_argument("--tests", default="test_*.py", help="which of them (default: test_*.py)")
    parser.add_argument("--only", default="", help="mutants whose text has this")
    parser.add_argument("--again", action="store_true", help="those that survived once more")
    parser.add_argument("--report", action="store_true", help="say what is known, run nothing")
    parser.add_argument("--folder", type=Path, default=ROOT / "build/mutation")
    return parser.parse_args(arguments)


# -- processes -----------------------------------------------------------------------------------


def parallel(jobs, count, until):
    """Run (key, function, arguments, seconds) each in a process of its own: function gets tell()
    and the arguments. Yields (key, what was told, exit code), None for one that took too long; what
    is not done by then is ended and not told of."""
    jobs, running = iter(jobs), {}
    while time.monotonic() < until:
        while len(running) < count and (job := next(jobs, None)) is not None:
            key, function, arguments, seconds = job
            here, there = Pipe(duplex=False)
            process = FORK.Process(target=_alone, args=(function, there, arguments))
            process.start()
            there.close()
            running[here] = key, process, [], time.monotonic() + seconds
        if not running:
            break
        for here in wait(list(running), timeout=0.5):
            try:
                running[here][2].append(here.recv())
            except (EOFError, OSError):
                key, process, told, _ = running.pop(here)
                process.join()
                _end(process)
                yield key, told, process.exitcode
        for here, (key, process, told, end) in list(running.items()):
            if time.monotonic() > end:
                running.pop(here)
                _end(process)
                yield key, told, None
    for _, process, _, _ in running.values():
        _end(process)


def _end(process):
    """The process, and what it started."""
    process.kill()
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.join()


def _alone(function, pipe, arguments):
    os.setsid()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    os.chdir(ROOT)
    folder = ROOT / f"build/mutation/tmp/{os.getpid()}"
    folder.mkdir(parents=True)
    try:
        function(pipe.send, folder, *arguments)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def load():
    """What every process needs and no mutant changes, imported once."""
    import cffi  # noqa: F401
    import hypothesis  # noqa: F401
    import jinja2  # noqa: F401
    import numpy  # noqa: F401
    import sympy  # noqa: F401
    import z3  # noqa: F401

    assert not any(name.startswith("lego_emit") for name in sys.modules)


# -- what is reached -----------------------------------------------------------------------------


def test_files(pattern):
    found = sorted(ROOT.glob(f"tests/{pattern}"), key=lambda p: -p.stat().st_size)
    return [p for p in found if p.stem.removeprefix("test_") not in LEFT_OUT]


def random_cases(count):
    """Names of the corpus, and numbers."""
    return [*sorted(p.stem for p in ROOT.glob("tests/corpus/*.toml")), *range(count)]


def measure(given, known, until):
    """The reach of every file and every case that is not known, into the folder."""
    names = random_cases(given.cases)
    jobs = [(p.name, measure_file, (p,), FILE) for p in test_files(given.tests)]
    jobs += [
        (f"cases {k}..{k + CHUNK}", measure_cases, (names[k : k + CHUNK],), FILE)
        for k in range(0, len(names), CHUNK)
    ]
    left = [job for job in jobs if job[0] not in known["done"]]
    for key, told, code in parallel(left, given.jobs, until):
        said = [*told, {"done": key}]
        with gzip.open(given.folder / "reached.jsonl.gz", "at") as file:
            file.writelines(json.dumps(line) + "\n" for line in said)
        note(known, said)
        about = "" if code == 0 else ", not to its end"
        print(f"{key}: {len(told)} reached something{about}", file=sys.stderr, flush=True)
    return all(job[0] in known["done"] for job in jobs)


def measure_file(tell, folder, path):
    pytest.main([*OPTIONS[:1], *OPTIONS[2:], f"--basetemp={folder}/t", str(path)], [_Watch(tell)])


class _Watch:
    """Tells which lines each test that passes reaches, and how long it takes."""

    def __init__(self, tell):
        self.tell, self.lines = tell, Lines()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item, nextitem):
        begun = time.monotonic()
        self.good = True
        self.lines.start()
        try:
            return (yield)
        finally:
            masks = self.lines.stop()
            seconds = time.monotonic() - begun
            if self.good and masks and seconds < SLOW:
                reached = {path: f"{mask:x}" for path, mask in masks.items()}
                self.tell({"test": item.nodeid, "seconds": round(seconds, 4), "reached": reached})

    def pytest_runtest_logreport(self, report):
        self.good &= report.passed


def measure_cases(tell, folder, names):
    judged = judge_of()
    lines = Lines()
    for name in names:
        begun = time.monotonic()
        lines.start()
        verdict = judged(name)
        masks = lines.stop()
        if verdict is None or told_of(verdict) or not masks:
            continue
        tell(
            {
                "case": name,
                "seconds": round(time.monotonic() - begun, 4),
                "reached": {path: f"{mask:x}" for path, mask in masks.items()},
                "bytes": zlib.crc32(verdict.source.encode()),
            }
        )


def judge_of():
    """judge() by a case's name or number."""
    from net import corpus
    from net.judge import judge
    from net.shrink import case_of

    where = {p.stem: p for p in corpus.paths()}

    def judged(name):
        case = corpus.read(where[name]) if isinstance(name, str) else case_of(1, name)
        deep = isinstance(name, str) or name % 4 == 0
        return case and judge(case, 40, deep, False, 5.0)

    return judged


def told_of(verdict):
    """What is wrong, but for what a busy machine may cause."""
    return next((f for f in verdict.findings if f.kind not in ("slow", "judge")), None)


def note(known, lines):
    for line in lines:
        if "done" in line:
            known["done"].add(line["done"])
            continue
        kind = "test" if "test" in line else "case"
        masks = {path: int(mask, 16) for path, mask in line["reached"].items()}
        known[kind].append((line["seconds"], line[kind], masks, line.get("bytes")))


def reached(folder):
    known = {"done": set(), "test": [], "case": []}
    if (folder / "reached.jsonl.gz").exists():
        with gzip.open(folder / "reached.jsonl.gz", "rt") as file:
            note(known, map(json.loads, file))
    return known


def reaching(entries, mutant, seconds):
    """Those that reach a mutant's line, or where that runs at the import, all of the files that
    import it; the quickest first, as many as fit in the seconds."""

    def file(entry):
        return str(entry[1]).partition("::")[0]

    reach = [e for e in entries if mutant.path in e[2]]
    if mutant.inside:
        reach = [e for e in reach if e[2][mutant.path] >> mutant.line & 1]
    else:
        importing = {file(e) for e in reach}
        reach = [e for e in entries if file(e) in importing]
    found = sorted((e[0], str(e[1]), e) for e in reach)
    taken, total = [], 0.0
    for took, _, entry in found:
        total += took
        if total > seconds and taken:
            break
        taken.append(entry)
    return taken


# -- mutants -------------------------------------------------------------------------------------


class _Changed(importlib.abc.MetaPathFinder):
    """Imports one module as the mutant has it."""

    def __init__(self, mutant):
        self.name = mutant.path.removesuffix(".py").replace("/", ".")
        self.code = mutant.code()

    def find_spec(self, name, path, target=None):
        if name != self.name:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        spec.loader.get_code = lambda _: self.code
        return spec


class _Chosen:
    """Runs the chosen tests in their order; one that never ends, ends the process."""

    def __init__(self, tell, tests):
        self.tell, self.tests = tell, {name: seconds for seconds, name, *_ in tests}
        self.order = {name: k for k, name in enumerate(self.tests)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        items[:] = [i for i in items if i.nodeid in self.order]
        items.sort(key=lambda i: self.order[i.nodeid])

    def pytest_runtest_logstart(self, nodeid):
        self.tell(nodeid)
        signal.alarm(math.ceil(ALONE + 10 * self.tests[nodeid]))

    def pytest_runtest_logfinish(self):
        signal.alarm(0)


def attempt(tell, folder, mutant, tests, cases):
    """Tells the names of what it runs, then what came out of it."""
    sys.meta_path.insert(0, _Changed(mutant))
    tell("the import")
    if tests:
        files = dict.fromkeys(name.partition("::")[0] for _, name, *_ in tests)
        options = [*OPTIONS, f"--basetemp={folder}/t", *files]
        if pytest.main(options, [_Chosen(tell, tests)]) not in (0, 5):
            tell({"outcome": "killed"})
            return
    end, judged, others = time.monotonic() + CASES, judge_of(), 0
    count = 0
    for _, name, _, crc in cases:
        if time.monotonic() > end:
            break
        tell(f"case {name}")
        count += 1
        verdict = judged(name)
        finding = told_of(verdict)
        if finding:
            tell({"outcome": "killed", "why": f"{finding.kind}: {finding.text}"[:200]})
            return
        others += zlib.crc32(verdict.source.encode()) != crc
    tell({"outcome": "survived", "tests": len(tests), "cases": count, "other bytes": others})


def run(given, mutants, known, until):
    # What a survivor needs, and the start.
    seconds = 3 * (TESTS + CASES) + 60

    files, numbers = {p.name for p in test_files(given.tests)}, {*random_cases(given.cases)}
    asked = [e for e in known["test"] if e[1].partition("::")[0].rpartition("/")[2] in files]
    judged = [e for e in known["case"] if e[1] in numbers]

    def jobs():
        for mutant in mutants:
            tests = reaching(asked, mutant, TESTS)
            cases = reaching(judged, mutant, CASES)
            yield mutant, attempt, (mutant, tests, cases), seconds

    done = 0
    for mutant, told, code in parallel(jobs(), given.jobs, until):
        said = told[-1] if told and isinstance(told[-1], dict) else {}
        if not said:
            said = {"outcome": "timeout" if code in (None, -signal.SIGALRM) else "killed"}
        names = [name for name in told if isinstance(name, str)]
        by = {} if said["outcome"] == "survived" or not names else {"by": names[-1]}
        line = {"mutant": mutant.key, "line": mutant.line, **said, **by}
        with open(given.folder / "results.jsonl", "a") as file:
            file.write(json.dumps(line) + "\n")
        done += 1
        if said["outcome"] == "survived" or given.only:
            print(json.dumps(line), file=sys.stderr, flush=True)
        elif done % 20 == 0:
            print(f"{done} of {len(mutants)}", file=sys.stderr, flush=True)


def results(folder):
    """What came out, by the mutants' text; the last time counts."""
    path = folder / "results.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    return {found["mutant"]: found for found in map(json.loads, lines)}


# -- the report ----------------------------------------------------------------------------------


@functools.cache
def equivalent():
    """{mutant: reason} of those that do what the module does."""
    text = (Path(__file__).parent / "equivalent.toml").read_text()
    return {entry["mutant"]: entry["reason"] for entry in tomllib.loads(text).get("same", ())}


def report(mutants, found):
    """Print all; whether 95% of those that are not equivalent are killed."""
    rows, survivors, total = defaultdict(Counter), [], Counter()
    for mutant in mutants:
        outcome = found.get(mutant.key, {}).get("outcome", "not run")
        if outcome == "survived" and mutant.key in equivalent():
            outcome = "equivalent"
        elif outcome == "survived":
            survivors.append((mutant, found[mutant.key]))
        rows[mutant.path][outcome] += 1
        total[outcome] += 1
    columns = ("killed", "timeout", "survived", "equivalent", "not run")
    print(f"{'':44}" + "".join(f"{c:>12}" for c in columns))
    for path in (*paths(), "all"):
        row = total if path == "all" else rows[path]
        if row:
            print(f"{path:44}" + "".join(f"{row[c] or '':>12}" for c in columns))
    for mutant, line in sorted(survivors, key=lambda s: s[0].key):
        print(
            f"survived: {mutant.key}\n    line {mutant.line}, {line['tests']} tests, "
            f"{line['cases']} cases, {line['other bytes']} of them with other bytes"
        )
    caught = total["killed"] + total["timeout"]
    judged = caught + total["survived"]
    share = caught / judged if judged else 0.0
    print(f"{caught} of {judged} killed ({100 * share:.1f} %), {total['equivalent']} equivalent")
    return share >= 0.95 and not total["not run"]


def main(arguments=None):
    given = parse(arguments)
    until = time.monotonic() + 60 * given.minutes
    given.folder.mkdir(parents=True, exist_ok=True)
    mutants = [m for m in sample(given.seed, given.mutants) if given.only in m.key]
    if not given.report:
        load()
        known = reached(given.folder)
        if measure(given, known, until):
            found = results(given.folder)
            again = ("survived",) if given.again else ()
            left = [m for m in mutants if found.get(m.key, {}).get("outcome", "") in ("", *again)]
            run(given, left, known, until)
    return 0 if report(mutants, results(given.folder)) else 1


if __name__ == "__main__":
    sys.exit(main())
