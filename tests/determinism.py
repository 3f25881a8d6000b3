"""ci/determinism: the golden cases in all languages, an explanation of each, and what a build writes,
made in many ways: are the bytes the same?

Each way is some runs of this file as a worker, which needs lego_emit's own dependencies alone.
"""

import argparse
import difflib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "determinism"  # what is installed for a way
EXITS = "Exit code: 0 where all is the same, 1 where something differs, 2 for bad usage."
SHOWN = 5  # differences of a way
THREADS, PROCESSES = 32, 8
SAID = {True: "proved", False: "refuted", None: "undecided"}

LAYOUTS = """
from lego_emit import Col, ExpandBy, GroupBy, OrderBy, Row, TileBy


def tile(M, N, BM, BN):
    return OrderBy(Row(M, N)).TileBy((M // BM, N // BN), (BM, BN))[pid_m, pid_n, :, :]


turned = GroupBy([6, 4]).OrderBy(Col(6, 4))
padded = ExpandBy([5, 7], [6, 8], TileBy([3, 2], [2, 4]).OrderBy(Col(6, 8)))
"""
CONFIG = """
targets = "all"
layouts = ["layouts.py:tile", "layouts.py:turned", "layouts.py:padded"]

[[files]]
name = "both"
targets = ["cpp", "javascript", "rust"]
layouts = ["layouts.py:tile", "layouts.py:turned"]
names = "camelCase"
"""


# -- a worker ------------------------------------------------------------------------------------


def work(asked):
    """What a worker makes: names and texts; what Z3 was asked and said; what it runs on."""
    import sympy
    import z3

    import lego_emit
    from lego_emit.arith import z3_prover

    said, prove = {}, z3_prover.prove_nonneg

    def noted(facts, e):
        answer = prove(facts, e)
        known = [f"{n} in {facts.ranges[n]}" for n in sorted(facts.ranges)]
        known += sorted(f"{c} >= 0" for c in facts.constraints)
        query = f"{e} >= 0 where {', '.join(known)}"
        said[query] = sorted({*said.get(query, []), SAID[answer]})
        return answer

    z3_prover.prove_nonneg = noted
    versions = f"{sys.version.split()[0]}, SymPy {sympy.__version__}, Z3 {z3.get_version_string()}"
    return {
        "made": [*texts(**asked), *built()],
        "z3": said,
        "on": f"Python {versions}",
        "from": lego_emit.__file__,
    }


def texts(cases, order=None, threads=1):
    """Each golden case in each language, with an explanation in one of them.

    order: a seed to shuffle them by. threads: so many make them, each case in two at a time."""
    from lego_emit import golden
    from lego_emit.emit import registry

    targets = registry.own_targets()
    loaded = [golden.load(ROOT / "golden" / name) for name in cases]
    explained = {case.name: targets[k % len(targets)] for k, case in enumerate(loaded)}
    if threads > 1:
        sys.setswitchinterval(1e-5)
        copies = [replace(case, _programs={}) for case in loaded for _ in range(2)]
        with ThreadPoolExecutor(threads) as pool:
            made = pool.map(lambda c: [x for t in targets for x in one(c, t, explained)], copies)
            return [pair for pairs in made for pair in pairs]
    pairs = [(case, target) for case in loaded for target in targets]
    if order is not None:
        random.Random(order).shuffle(pairs)
    return [pair for case, target in pairs for pair in one(case, target, explained)]


def one(case, target, explained):
    from lego_emit.errors import LegoError

    try:
        unit = case.emit(target)
    except LegoError as error:  # a language that has no form of it
        return [(f"{case.name} {target}", str(error))]
    found = [(f"{case.name} {name}", text) for name, text in unit.files(f"{target}/x").items()]
    if explained[case.name] == target:
        found.append((f"{case.name} {target} explained", str(unit.explain())))
    return found


def built():
    """What a build writes, by two processes."""
    from lego_emit.project.build import build
    from lego_emit.project.config import load

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "layouts.py").write_text(LAYOUTS)
        config = Path(folder, "lego-emit.toml")
        config.write_text(CONFIG)
        written = build(load(config), jobs=2).written
        return [(f"build {p.relative_to(folder)}", p.read_text()) for p in sorted(written)]


# -- ways ----------------------------------------------------------------------------------------


@dataclass
class Run:
    """One worker. path: what stands before all else on its Python's path."""

    label: str
    python: str = sys.executable
    seed: int = 0
    path: str = str(ROOT)
    asked: dict[str, Any] = field(default_factory=dict)

    def __call__(self, cases):
        environment = {**os.environ, "PYTHONHASHSEED": str(self.seed), "PYTHONPATH": self.path}
        done = subprocess.run(
            [self.python, __file__, "--work", json.dumps({"cases": cases, **self.asked})],
            capture_output=True, text=True, env=environment,
        )  # fmt: skip
        if done.returncode:
            raise Failed(f"{self.label}: the worker failed:\n{done.stderr}")
        found = json.loads(done.stdout)
        if not found["from"].startswith(self.path.split(os.pathsep)[-1]):
            raise Failed(f"{self.label}: lego_emit came from {found['from']}")
        return found


class Failed(Exception):
    """A worker that made nothing."""


class LeftOut(Exception):
    """A way that cannot be gone here, and why."""


def seeds(options):
    """Hash seeds, each with the units in an order of its own"""
    for k in range(1, options.seeds + 1):
        yield Run(f"hash seed and order {k}", seed=k, asked={"order": k})


def threads(options):
    """Threads of one process, two at a time making the same"""
    yield Run(f"{THREADS} threads", asked={"threads": THREADS})


def processes(options):
    """Processes at once"""
    for k in range(PROCESSES):
        yield Run(f"process {k + 1} of {PROCESSES} at once", seed=1000 + k)


def pythons(options):
    """Other Pythons"""
    here = ".".join(map(str, sys.version_info[:2]))
    named = {f"3.{minor}": f"python3.{minor}" for minor in range(11, 15)}
    named |= {name: name for name in options.python}
    for version, name in named.items():
        found = shutil.which(name)
        if version == here:
            continue
        needed = "import cffi, click, docstring_parser, jinja2, numpy, rich, sympy, z3"
        if found and not subprocess.run([found, "-c", needed], capture_output=True).returncode:
            yield Run(name, python=found)
        else:
            yield LeftOut(f"{name} is not here, or not with what lego_emit needs")


def versions(options):
    """The oldest SymPy and Z3"""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for package in ("sympy", "z3-solver"):
        (wanted,) = [d for d in project["dependencies"] if d.startswith(f"{package}>=")]
        oldest = re.split(">=|,", wanted)[1]
        try:
            folder = installed(f"{package}-{oldest}", f"{package}=={oldest}")
        except LeftOut as why:
            yield why
            continue
        yield Run(f"{package} {oldest}", path=os.pathsep.join([folder, str(ROOT)]))


def packages(options):
    """From a wheel and from an sdist"""
    for kind in ("wheel", "sdist"):
        with tempfile.TemporaryDirectory() as folder:
            setup = [sys.executable, "-c", "from setuptools import setup; setup()", "-q"]
            if kind == "wheel":
                setup += ["build", "--build-base", f"{folder}/build"]
            command = [*setup, "bdist_wheel" if kind == "wheel" else "sdist", "--dist-dir", folder]
            subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
            (made,) = Path(folder).glob("lego_emit-*")
            yield Run(kind, path=installed(kind, "--no-build-isolation", str(made)))


WAYS: dict[str, Callable[..., Any]] = {
    way.__name__: way for way in (seeds, threads, processes, pythons, versions, packages)
}


def installed(name, *what):
    """A folder with a package in it, without what it needs."""
    folder = WORK / name
    shutil.rmtree(folder, ignore_errors=True)
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-compile"]
    command += ["--target", str(folder)]
    done = subprocess.run([*command, *what], capture_output=True, text=True)
    if done.returncode:
        raise LeftOut(f"{what[-1]}: {done.stderr.strip().splitlines()[-1]}")
    return str(folder)


# -- all of it -----------------------------------------------------------------------------------


def parse(arguments):
    every = sorted(path.parent.name for path in (ROOT / "golden").glob("*/layout.py"))
    parser = argparse.ArgumentParser(
        prog="ci/determinism", description=__doc__.partition(": ")[2], epilog=EXITS
    )
    parser.add_argument("--only", help=f"some ways: {','.join(WAYS)}", default=",".join(WAYS))
    parser.add_argument("--seeds", type=int, default=50, help="how many hash seeds (default: 50)")
    parser.add_argument("--cases", default=",".join(every), help="golden cases (default: all)")
    parser.add_argument(
        "--python", action="append", default=[], help="one more Python to try, with what is needed"
    )
    parser.add_argument("--jobs", type=int, default=2, help="workers at once (default: 2)")
    options = parser.parse_args(arguments)
    options.only, options.cases = options.only.split(","), options.cases.split(",")
    for given, known in ((options.only, WAYS), (options.cases, every)):
        if unknown := sorted({*given} - {*known}):
            parser.error(f"unknown: {', '.join(unknown)}; there are {', '.join(known)}")
    return options


def differences(base, found, label):
    """What differs between two runs' texts, as diffs."""
    wanted = dict(base["made"])
    made = {*(name for name, _ in found["made"])}
    said = [f"{label}: {name} is made by one of the two only\n" for name in made ^ wanted.keys()]
    for name, text in found["made"]:
        if text != wanted.get(name, text):
            lines = wanted[name].splitlines(keepends=True), text.splitlines(keepends=True)
            said.append(
                "".join(difflib.unified_diff(*lines, f"{name}, seed 0", f"{name}, {label}"))
            )
    return sorted(said)


def otherwise(base, found, label):
    """What Z3 was asked in both runs and answered otherwise."""
    return [
        f"{label}: {' and '.join(now)}, at seed 0 {' and '.join(before)}: {query}"
        for query, before in base["z3"].items()
        if (now := found["z3"].get(query, before)) != before
    ]


def main(arguments=None):
    """The exit code."""
    options = parse(arguments)
    base = Run("seed 0")(options.cases)
    print(f"{len(base['made'])} texts on {base['on']}\n")
    print(f"{'':60}{'runs':>6}{'texts':>9}{'differ':>8}")
    same = True
    for name in options.only:
        ways = list(WAYS[name](options))
        runs = [way for way in ways if isinstance(way, Run)]
        notes = [str(way) for way in ways if isinstance(way, LeftOut)]
        count, said = 0, []
        with ThreadPoolExecutor(PROCESSES if name == "processes" else options.jobs) as pool:
            for run, future in [(run, pool.submit(run, options.cases)) for run in runs]:
                try:
                    found = future.result()
                except Failed as error:
                    said.append(str(error))
                    continue
                count += len(found["made"])
                said += differences(base, found, run.label)
                if name not in ("seeds", "threads", "processes"):
                    notes.append(f"{run.label}: {found['on']}")
                notes += otherwise(base, found, run.label)
        print(f"{WAYS[name].__doc__:60}{len(runs):6}{count:9}{len(said):8}", flush=True)
        print("".join(f"  {note}\n" for note in notes), "\n".join(said[:SHOWN]), sep="", end="")
        same = same and not said
    return 0 if same else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        print(json.dumps(work(json.loads(sys.argv[2]))))
    else:
        sys.exit(main())
