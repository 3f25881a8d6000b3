"""ci/fuzz: many random cases, bounded in time and memory, and what was found in them.

Case number k of a seed is the same in every run. Workers judge the numbers in turn; one that does
not come back is ended, and its case is a finding. What looks alike is one finding, which hypothesis
shrinks; it is printed as a file for tests/corpus.
"""

import argparse
import contextlib
import faulthandler
import json
import multiprocessing
import os
import pickle
import resource
import signal
import subprocess
import sys
import tempfile
import time
import zlib
from collections import Counter, defaultdict
from dataclasses import asdict, dataclass, field, replace
from multiprocessing.connection import wait
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from net.settings import TYPES, named

STUCK = 60.0  # seconds for one case on the wall, after which its worker is ended
COMPILING = 900.0  # the same for a batch of units
MEMORY = 3 << 30
PATIENT = 10.0  # seconds of CPU for a layout in one type, where values alone are looked at
LOOPING = 5.0  # seconds of CPU for a case with loops, whose bodies are followed several times
DEEP = 4  # one case among so many is judged deeply
VERIFIED = 25  # one unit among so many is verified, where C++ is asked for
FRESH = 24  # cases that are generated once more in a process of their own
EXITS = "Exit code: 0 where nothing was found, 1 where something was, 2 for bad usage."
FORK = multiprocessing.get_context("fork")


def load():
    """What takes a while to import, and bad usage does not need; once for all workers."""
    global Case, Finding, SECONDS, case_of, judge, proved_again, smallest, toolchains
    import sympy  # noqa: F401
    import z3  # noqa: F401

    from net import toolchains
    from net.case import Case
    from net.judge import SECONDS, Finding, judge
    from net.proved import proved_again
    from net.shrink import case_of, smallest

    case_of(0, 0)


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="ci/fuzz", description=__doc__.partition("\n")[2], epilog=EXITS
    )
    parser.add_argument("--minutes", type=float, help="how long (default: 1, or until --cases)")
    parser.add_argument("--seed", type=int, default=0, help="what decides all cases (default: 0)")
    parser.add_argument("--cases", type=int, help="how many at most")
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--processes", type=int, default=2, help="workers (default: 2)")
    parser.add_argument(
        "--targets", default="", help="all, or as cpp,rust: compile and run the units, too"
    )
    parser.add_argument("--batch", type=int, default=100, help="cases compiled at a time")
    parser.add_argument(
        "--layouts",
        action="store_true",
        help="of the cases only the layouts, each in every index type of its languages",
    )
    parser.add_argument("--loops", action="store_true", help="of the cases only those with loops")
    parser.add_argument(
        "--certificates", action="store_true", help="prove each case's certificate again"
    )
    parser.add_argument(
        "--texts",
        action="store_true",
        help="index texts of templates, in one process, and no cases",
    )
    parser.add_argument(
        "--copies",
        action="store_true",
        help="copies in C, under sanitizers, or in Rust by its feature simd (--targets rust), in one process",
    )
    parser.add_argument("--gpu", action="store_true", help="run CUDA C on the GPU, not on the CPU")
    parser.add_argument(
        "--resume", type=Path, help="a file of the batches that are compiled: goes on where it ends"
    )
    parser.add_argument("--points", type=int, default=60, help="points of each kind in a function")
    parser.add_argument("--keep", type=Path, help="a folder to write the findings to")
    parser.add_argument("--bytes", type=int, nargs="*", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.minutes is not None and not 0 < given.minutes < 10**6:
        parser.error("--minutes must be positive")
    for name in ("cases", "batch", "points"):
        if (value := getattr(given, name)) is not None and value < 1:
            parser.error(f"--{name} must be positive")
    if given.first < 0:
        parser.error("--first must not be negative")
    if not 1 <= given.processes <= 64:
        parser.error("--processes must be in 1..64")
    if given.minutes is None and given.cases is None:
        given.minutes = 1.0
    try:
        given.targets = named(given.targets)
    except ValueError as error:
        parser.error(str(error))
    if given.targets:
        missing, _ = apart(lambda: lacking(given.targets, given.gpu))
        if missing:
            parser.error(missing)
    given.done = {}
    if given.resume:
        if not given.targets:
            parser.error("--resume needs --targets")
        try:
            given.done = resumed(given)
        except (OSError, ValueError) as error:
            parser.error(f"--resume: {error}")
    return given


def lacking(targets, gpu):
    """What is missing of the toolchains, in words."""
    from lego_emit.errors import ToolchainError
    from net.toolchains import checked

    try:
        for target in targets:
            checked(target, gpu).find()
    except ToolchainError as error:
        return str(error)
    return ""


# What resumed runs agree on.
SETTLED = ("seed", "targets", "batch", "first", "points", "layouts", "loops", "gpu")


def resumed(given):
    """{first case: its tally} of the batches that a file says are done; made where it is missing. Raises
    ValueError for another run's."""
    settings = {name: getattr(given, name) for name in SETTLED}
    settings = json.loads(json.dumps(settings))
    if not given.resume.exists():
        given.resume.parent.mkdir(parents=True, exist_ok=True)
        given.resume.write_text(json.dumps(settings) + "\n")
        return {}
    # A run that was ended may have left half a line.
    whole, _, _ = given.resume.read_text().rpartition("\n")
    lines = [json.loads(line) for line in whole.splitlines()]
    if not lines or lines[0] != settings:
        raise ValueError(
            f"{given.resume} is of another run: {lines[0] if lines else 'no settings'}"
        )
    given.resume.write_text(whole + "\n")
    return {line["case"]: Tally(**line) for line in lines[1:]}


# -- workers -------------------------------------------------------------------------------------


def bounded():
    """Bound this process' memory, and keep its words to itself."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    sys.setrecursionlimit(1000)


def work(given, numbers, until, pipe):
    """Judge the cases of these numbers in turn, until the time is over."""
    if not given.gpu:  # whose driver takes more addresses than the machine has memory
        bounded()
    batch, begun, found, started = [], None, 0, time.monotonic()
    try:
        for number in numbers:
            if until is not None and time.monotonic() > until:
                break
            begun = number if number == numbers.start else begun
            pipe.send(("begin", number, STUCK))
            for case in forms(given, case_of(given.seed, number)):
                found += judge_one(given, number, case, batch, pipe)
            pipe.send(("end", number))
            whole = number + 1 == numbers.start + numbers.size
            if given.targets and (whole or number + 1 == numbers.last):
                tally = Tally(
                    begun if whole else None, found, {"judging": time.monotonic() - started}
                )
                compile_batch(given, batch, tally, pipe)
                batch, begun, found, started = [], None, 0, time.monotonic()
        if batch:  # the time is over: what was judged is still compiled
            tally = Tally(None, found, {"judging": time.monotonic() - started})
            compile_batch(given, batch, tally, pipe)
    except (BrokenPipeError, KeyboardInterrupt):
        pass


@dataclass
class Tally:
    """What came out of a batch. case: the first, None where the batch is not whole; seconds: on the
    wall, by target; compared: by target, what summed() says."""

    case: int | None
    findings: int
    seconds: dict
    compared: dict = field(default_factory=dict)


def forms(given, case):
    """A case as it is judged: once, or in each index type."""
    if given.loops and (case is None or case.family != "loop"):
        return []
    if not given.layouts:
        return [case]
    if case is None or case.family not in ("layout", "sizes"):
        return []
    targets = given.targets or (case.target,)
    takers = {t: target for target in reversed(targets) for t in TYPES[target]}
    return [replace(case, target=takers[t], index_type=t) for t in sorted(takers)]


def judge_one(given, number, case, batch, pipe):
    """Judge a case, and put it into the batch; the number of findings."""
    if case is None:
        pipe.send(("judged", number, None, ""))
        return 0
    deep = number % DEEP == 0 and not given.layouts
    seconds = PATIENT if given.layouts else LOOPING if case.family == "loop" else SECONDS
    verdict = judge(case, given.points, deep, bool(given.targets), seconds)
    if given.certificates and not verdict.findings:
        verdict.findings, verdicts = proved_again(case, number)
        verdict.notes.update(f"certificates: {v}" for v in verdicts)
    if given.targets and verdict.expected and not verdict.findings:
        programs = {case.asked(case.target, case.index_type): verdict.program}
        batch.append((number, case, verdict.expected, programs))
    verdict.expected, verdict.program = [], None
    if given.layouts:
        verdict.source = ""  # fresh() makes a number's case as it was drawn
    pipe.send(("judged", number, verdict, case.toml()))
    return len(verdict.findings)


def compile_batch(given, batch, tally, pipe):
    """Compile and run what was judged."""
    verified = () if given.layouts else range(0, len(batch), VERIFIED)
    for target in given.targets:
        pipe.send(("begin", batch[-1][0] if batch else tally.case, COMPILING))
        started = time.monotonic()
        units, found = toolchains.units_of(target, [b[1:] for b in batch], given.layouts)
        points, wrong = run_apart(target, units, given.gpu)
        found += wrong
        for place in verified if target == "cpp" else ():
            said = toolchains.verified(batch[place][1])
            if said is not None and not said[0]:
                found.append((place, f"verify() says {said[1]}"))
        for place, text in found:
            number, case, *_ = batch[place]
            pipe.send(("wrong", number, Finding(f"compiled {target}", text), case.toml()))
        tally.seconds[target] = time.monotonic() - started
        tally.findings += len(found)
        tally.compared[target] = summed(batch, points)
    pipe.send(("compiled", tally))


def summed(batch, points):
    """What was compared: in all and by index type, the layouts (or functions), those of them in both
    directions, and the points."""
    seen = defaultdict(lambda: (set(), set(), Counter()))
    for (place, own), by_function in points.items():
        number = batch[place][0]
        if not any(by_function.values()):
            continue
        ways = {name.rpartition("_")[2] for name, count in by_function.items() if count}
        for kind in ("all", own):
            cases, both, total = seen[kind]
            cases.add(number)
            if ways >= {"apply", "inv"}:
                both.add(number)
            total["points"] += sum(by_function.values())
    return {kind: [len(c), len(b), t["points"]] for kind, (c, b, t) in sorted(seen.items())}


def run_apart(target, units, gpu=False):
    """toolchains.compared() in a process of its own, which a toolchain's check ends; what is wrong is
    found by halves."""
    if not units:
        return {}, []
    result, said = apart(lambda: toolchains.compared(toolchains.checked(target, gpu), units))
    if result is not None:
        return result
    if len(units) == 1:
        return {}, [
            (units[0][0][0], f"{units[0][0][1]}: it does not compile, or run: {said[-800:]}")
        ]
    middle = len(units) // 2
    halves = [run_apart(target, half, gpu) for half in (units[:middle], units[middle:])]
    return {**halves[0][0], **halves[1][0]}, [*halves[0][1], *halves[1][1]]


def apart(task):
    """(what a task gives in a process of its own, "") or (None, what was said as it ended)."""
    with tempfile.TemporaryDirectory(prefix="lego_fuzz_") as folder:
        result, said = Path(folder, "result"), Path(folder, "said")
        child = os.fork()
        if not child:
            tempfile.tempdir = folder
            signal.alarm(int(COMPILING))
            faulthandler.disable()
            os.dup2(os.open(said, os.O_CREAT | os.O_WRONLY), 2)
            code = 1
            try:
                made = pickle.dumps(task())
                result.write_bytes(made)
                code = 0
            except BaseException as error:
                os.write(2, f"{type(error).__name__}: {error}".encode())
            os._exit(code)
        _, status = os.waitpid(child, 0)
        if result.exists():
            return pickle.loads(result.read_bytes()), ""
        text = said.read_text(errors="replace") if said.exists() else ""
        return None, f"{text.strip()} (exit code {os.waitstatus_to_exitcode(status)})"


class Worker:
    """A process that judges, and what it is at."""

    def __init__(self, given, numbers, end):
        self.numbers, self.end_at = numbers, end
        self.number, self.until = None, None
        self.pipe, child = FORK.Pipe(duplex=False)
        self.process = FORK.Process(target=work, args=(given, numbers, end, child), daemon=True)
        self.process.start()
        child.close()

    def end(self):
        self.process.kill()
        self.process.join()
        self.pipe.close()


class Numbers:
    """Every count-th batch of numbers from the first on, below the last, but for those that are done;
    goes on where it was left."""

    def __init__(self, given, place):
        self.first = given.first
        self.last = None if given.cases is None else given.first + given.cases
        self.size = given.batch if given.targets else 1
        self.start, self.step = given.first + place * self.size, given.processes * self.size
        self.next, self.done = self.start, given.done

    def after(self, number):
        """Go on after this number."""
        self.start = number - (number - self.first) % self.size
        self.next = number + 1

    def __iter__(self):
        while self.last is None or self.next < self.last:
            if self.next == self.start + self.size:
                self.start += self.step
                self.next = self.start
            elif self.start in self.done:
                self.next = self.start + self.size
            else:
                self.next += 1
                yield self.next - 1


# -- the run -------------------------------------------------------------------------------------


class Run:
    """All that is known so far."""

    def __init__(self, given):
        self.given = given
        self.begun = time.monotonic()
        self.cases = self.points = self.lost = 0
        self.taken = Counter()  # seconds by target
        self.before = 0  # findings of the runs before
        self.seconds = 0.0
        self.refusals, self.notes, self.found = Counter(), Counter(), Counter()
        self.compared = defaultdict(Counter)  # (target, index type or "all"): what summed() counts
        for tally in given.done.values():
            self.before += tally.findings
            self.compiled(tally)
        self.first = {}  # key: (number, finding, the case's text)
        self.sources = {}

    def elapsed(self):
        return time.monotonic() - self.begun

    def judged(self, number, verdict, text):
        self.cases += 1
        if verdict is None:
            self.lost += 1
            return
        self.points += verdict.points
        self.seconds += verdict.seconds
        self.notes.update(verdict.notes)
        if verdict.refusal:
            self.refusals[verdict.refusal[:72]] += 1
        for finding in verdict.findings:
            self.add(number, finding, text)
        if verdict.source and not verdict.findings and len(self.sources) < FRESH:
            self.sources[number] = zlib.crc32(verdict.source.encode())

    def add(self, number, finding, text):
        family = Case.of(text).family if text else ""
        key = finding.key, family
        self.found[key] += 1
        known = self.first.get(key)
        if known is None or len(text) < len(known[2]):
            self.first[key] = number, finding, text
        if known is None:
            print(
                f"case {number}: {finding.kind}: {finding.text}\n{text}",
                file=sys.stderr,
                flush=True,
            )

    def compiled(self, tally):
        self.taken.update(tally.seconds)
        for target, counts in tally.compared.items():
            for kind, (cases, both, points) in counts.items():
                self.compared[target, kind].update(cases=cases, both=both, points=points)

    def progress(self):
        print(
            f"{self.elapsed():.0f} s: {self.cases} cases, {self.points} points, "
            f"{sum(self.found.values())} findings of {len(self.found)} kinds"
            + "".join(
                f", {target} {self.compared[target, 'all']['cases']}"
                for target in self.given.targets
            ),
            file=sys.stderr,
            flush=True,
        )


def search(run, until):
    """Judge cases until the time is over or all are done."""
    given = run.given
    workers = [Worker(given, Numbers(given, k), until) for k in range(given.processes)]
    said = time.monotonic()
    try:
        while workers:
            now = time.monotonic()
            # What was judged is still compiled.
            if until is not None and now > until + (COMPILING if given.targets else 0):
                break
            if now - said > 30:
                run.progress()
                said = now
            for pipe in wait([w.pipe for w in workers], timeout=0.2):
                worker = next(w for w in workers if w.pipe is pipe)
                workers = heard(run, worker, workers)
            for worker in list(workers):
                if worker.until is not None and time.monotonic() > worker.until:
                    workers = lost(run, worker, workers, "stuck", "it never came back")
    finally:
        for worker in workers:
            worker.end()


def heard(run, worker, workers):
    """Take what a worker says; the workers that go on."""
    try:
        kind, *said = worker.pipe.recv()
    except (EOFError, OSError):
        worker.process.join(5)
        if worker.process.exitcode == 0:
            worker.end()
            return [w for w in workers if w is not worker]
        return lost(run, worker, workers, "died", f"exit code {worker.process.exitcode}")
    if kind == "begin":
        worker.number, limit = said
        worker.until = time.monotonic() + limit
    elif kind == "judged":
        run.judged(*said)
    elif kind == "end":
        worker.numbers.after(*said)
    elif kind == "wrong":
        run.add(*said)
    elif kind == "compiled":
        run.compiled(*said)
        if run.given.resume and said[0].case is not None:
            with run.given.resume.open("a") as file:
                file.write(json.dumps(asdict(said[0])) + "\n")
    return workers


def lost(run, worker, workers, kind, text):
    """A worker that is gone: a finding, and another in its place."""
    worker.end()
    number = worker.number
    if number is not None:
        case = case_of(run.given.seed, number)
        run.cases += 1
        run.add(number, Finding(kind, text), case.toml() if case else "")
        worker.numbers.after(number)
    return [
        *(w for w in workers if w is not worker),
        Worker(run.given, worker.numbers, worker.end_at),
    ]


def shrunk(run, until):
    """The findings with the smallest cases that were found for them in time."""
    best = {key: (finding, text) for key, (_, finding, text) in run.first.items()}
    left = sorted(run.first, key=lambda key: (key[0].startswith(("slow", "endless")), key))
    left = [
        k
        for k in left
        if not k[0].startswith(("stuck", "died", "compiled", "fresh", "certificate"))
    ]
    going = []
    seconds = max(4.0, (until - time.monotonic()) * run.given.processes / max(1, len(left)))
    while (left or going) and time.monotonic() < until:
        while left and len(going) < run.given.processes:
            key = left.pop(0)
            pipe, child = FORK.Pipe(duplex=False)
            arguments = (run.given.seed, run.first[key][0], key[0], seconds, child)
            process = FORK.Process(target=shrink, args=arguments, daemon=True)
            process.start()
            child.close()
            going.append((key, pipe, process, time.monotonic() + seconds + 4))
        for key, pipe, process, end in list(going):
            over = time.monotonic() > end
            while not over and pipe.poll(0.1):
                try:
                    text, finding = pipe.recv()
                except (EOFError, OSError):
                    over = True
                else:
                    if len(text) <= len(best[key][1]):
                        best[key] = finding, text
            if over:
                process.kill()
                process.join()
                going.remove((key, pipe, process, end))
    for _, _, process, _ in going:
        process.kill()
        process.join()
    return best


def shrink(seed, number, key, seconds, pipe):
    bounded()
    with open(os.devnull, "w") as nothing, contextlib.redirect_stdout(nothing):
        smallest(seed, number, key, seconds, lambda case, f: pipe.send((case.toml(), f)))


def fresh(run):
    """Whether some cases come out as the same bytes in a new process, in another order, with
    another hash seed."""
    if not run.sources:
        return
    numbers = sorted(run.sources, reverse=True)
    command = [sys.executable, __file__, "--seed", str(run.given.seed), "--cases", "1", "--bytes"]
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    done = subprocess.run(
        [*command, *map(str, numbers)], env=environment, capture_output=True, text=True, timeout=120
    )
    got = dict(map(int, line.split()) for line in done.stdout.splitlines())
    for number in numbers:
        if got.get(number) != run.sources[number]:
            case = case_of(run.given.seed, number)
            run.add(number, Finding("fresh", "other bytes in a new process"), case.toml())


def print_bytes(given):
    for number in given.bytes:
        case = case_of(given.seed, number)
        unit = case.generate(case.subject())
        print(number, zlib.crc32(unit.source.encode()), flush=True)


def main(arguments=None):
    given = parse(arguments)
    if given.texts:
        from net import texts

        return texts.report(given)
    if given.copies:
        from net import copies

        return copies.report(given)
    load()
    if given.bytes:
        print_bytes(given)
        return 0
    run = Run(given)
    end = None if given.minutes is None else run.begun + 60 * given.minutes
    search(run, None if end is None else run.begun + 48 * given.minutes)
    if end is None or end - time.monotonic() > 5:
        fresh(run)
    best = shrunk(run, time.monotonic() + 60 if end is None else end)
    return report(run, best)


def report(run, best):
    """Print all; the exit code."""
    for k, (key, (finding, text)) in enumerate(sorted(best.items())):
        number = run.first[key][0]
        print(
            f"\n-- finding {k + 1}: {', '.join(key)}; {run.found[key]} times, first in case {number}"
        )
        about = f"{finding.kind}: {finding.text}"
        shown = "".join(f"# {line}\n" for line in about.splitlines()) + text
        print(shown, end="")
        if run.given.keep:
            run.given.keep.mkdir(parents=True, exist_ok=True)
            (run.given.keep / f"{run.given.seed}_{number}_{k + 1}.toml").write_text(shown)
    if run.refusals:
        print("\nrefused:")
        for text, count in run.refusals.most_common(40):
            print(f"  {count:6} {text}")
    for what, count in sorted(run.notes.items()):
        print(f"  {count:8} {what}")
    for (target, kind), counts in sorted(run.compared.items()):
        print(
            f"  {target} {kind}: {counts['cases']} cases compiled, {counts['both']} of them in both "
            f"directions, {counts['points']} points"
        )
    if run.taken:
        print("  " + ", ".join(f"{what} {s:.0f} s" for what, s in run.taken.items()))
    if run.before:
        print(f"  {run.before} findings in the runs before this one")
    rate = run.cases / run.elapsed()
    print(
        f"\nseed {run.given.seed}: {run.cases} cases ({run.lost} without bytes, "
        f"{sum(run.refusals.values())} refused), {run.points} points in {run.elapsed():.0f} s "
        f"({rate:.1f} cases/s), {run.seconds:.0f} s of it in generate(); "
        f"{sum(run.found.values())} findings of {len(run.found)} kinds"
    )
    return 1 if run.found or run.before else 0


if __name__ == "__main__":
    sys.exit(main())
