"""What unit.explain() tells, read as a reader reads it: the text, evaluated by Python."""

import re
from collections import Counter
from math import isqrt

from lego_emit import LegoError

from .points import Relations, known_of

SPACE = {"isqrt": isqrt, "min": min, "max": max}
INFIX = {
    "add": "+", "sub": "-", "mul": "*", "div": "//", "mod": "%", "floordiv": "//",
    "floormod": "%", "shl": "<<", "shr": ">>", "and": "&", "or": "|", "xor": "^", "lt": "<",
    "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=", "land": "and", "lor": "or",
}  # fmt: skip


def node(n, depth=4):
    """A node for a message."""
    if n.op in ("const", "table", "var"):
        return str(n.value)
    if not depth:
        return ".."
    args = [node(a, depth - 1) for a in n.args]
    if n.op in INFIX:
        return f"({args[0]} {INFIX[n.op]} {args[1]})"
    return f"{n.op}({', '.join(args)})"


def judge(case, verdict, unit, rng):
    """The explanation of every function."""
    for function in unit.functions:
        try:
            text = unit.explain(function.name)
        except LegoError as error:
            verdict.add("explain", f"{type(error).__name__}: {error}")
            return
        except Exception as error:
            verdict.add("explain", f"{type(error).__name__}: {error}")
            return
        _steps(case, verdict, function, text, rng)


def _steps(case, verdict, function, text, rng):
    told = Explanation(text)
    names = [p.name for p in function.params]
    ranges = [p.range_text for p in function.params]
    least = max(-(2**40), function.index_type.least)
    header = Relations(
        [*ranges, *function.assumptions], names, least, 2**40, known_of(case, function)
    )
    counted = Counter()
    whole = case.family in ("layout", "sizes")  # what is told is the function's own result
    for _ in range(20):
        values = header.draw(rng)
        if values is None:
            break
        own = {old: values[new] for old, new in function.renamed if new in values}
        told_of = {**values, **own}  # it speaks of the user's names
        # What is told of a loop's body holds where there is a round, which no step says.
        wrong = "" if case.family == "loop" else told.wrong(told_of, counted)
        if wrong:
            shown = ", ".join(f"{n}={v}" for n, v in values.items())
            verdict.add("step", f"{function.name}({shown}): {wrong}")
            return
        try:
            want = function.evaluate(values)
        except ArithmeticError:
            continue
        for what, lines in (("naive", told.naive), ("emitted", told.emitted)):
            if not lines or (what == "naive" and (case.base or not whole)):
                continue
            space = {**SPACE, **told_of}
            try:
                exec("\n".join(lines), space)
            except (ArithmeticError, ValueError):
                continue
            except (SyntaxError, NameError) as error:
                verdict.notes[f"{what} lines of explain() are no Python: {error}"[:60]] += 1
                continue
            names = [line.partition(" = ")[0] for line in lines[-len(want) :]]
            got = [space[n] for n in names]
            masked = told.masked and what == "naive"
            pairs = zip(got, want.values(), strict=True)
            hidden = {case.base - 1, *function.masked}  # what stands for a masked index
            if any(g != v and not (masked and v in hidden) for g, v in pairs):
                verdict.add("step", f"{function.name}: {what} lines give {got} at {values}")
                return
    for what, count in counted.items():
        verdict.notes[what] += count


class Explanation:
    """The parts of an explanation's text that can be evaluated."""

    def __init__(self, text):
        lines = text.splitlines()
        self.steps = []  # (definitions, equalities, bounds, conditions), code each
        self.naive, self.emitted, self.masked = [], [], False
        if "  Steps" in lines:
            begin = lines.index("  Steps") + 1
            self._read(lines[begin : lines.index("", begin)])
        starts = [k for k, line in enumerate(lines) if line.startswith("  by Figs. ")]
        if len(starts) == 1:
            end = next(
                (k for k in range(starts[0], len(lines)) if re.match(r" +\d+ operation", lines[k])),
                None,
            )
            if end is not None and not any(" more" in x for x in lines[starts[0] : end]):
                self.masked = " where" in lines[end - 1]
                self.naive = _statements(lines[starts[0] + 1 : end - self.masked])
        begin = next(k for k, line in enumerate(lines) if line.startswith("  Emitted")) + 1
        self.emitted = _statements(
            lines[begin : lines.index("", begin) if "" in lines[begin:] else None]
        )

    def _read(self, lines):
        joined = []
        for line in lines:
            if line.startswith("         ") and joined:  # a wrapped line goes on
                joined[-1] += " " + line.strip()
            else:
                joined.append(line)
        defined, step = [], None
        for line in joined:
            head = re.match(r" +\d+\. (.*)", line)
            if head:
                step = ([*defined], [], [], [])
                self.steps.append(step)
                line = head.group(1)
            line = line.strip()
            name = re.match(r"(v\d+) = (.*)", line)
            if name and _code(name.group(2)):
                defined.append((name.group(1), _code(name.group(2))))
                continue
            if step is None:
                continue
            if line.startswith("because ") and re.search(r", (by|from) ", line):
                said = re.split(r", (?:by|from) ", line[8:])[0]
                if code := _code(said):
                    step[2].append((said, code))
            elif line.startswith("where "):
                step[3].append(_code(line[6:]))
            elif " = " in line:
                sides = line.split(" = ")
                codes = [_code(s) for s in sides]
                if len(sides) == 2 and all(codes):
                    step[1].append((line, *codes))

    def wrong(self, values, counted):
        """The first equality or bound that does not hold, as text."""
        for defined, equalities, bounds, where in self.steps:
            space = {**values}
            for name, code in defined:
                try:
                    space[name] = eval(code, SPACE, space)
                except (ArithmeticError, ValueError, NameError):
                    pass
            if None in where:
                counted["steps that are no Python"] += 1
                continue
            try:
                if not all(eval(c, SPACE, space) for c in where):
                    continue
            except (ArithmeticError, ValueError, NameError):
                continue
            for text, code in bounds:
                try:
                    if not eval(code, SPACE, space):
                        return f"not so: {text}"
                except (ArithmeticError, ValueError, NameError):
                    pass
            for text, left, right in equalities:
                try:
                    a, b = eval(left, SPACE, space), eval(right, SPACE, space)
                except (ArithmeticError, ValueError, NameError):
                    continue
                counted["steps evaluated"] += 1
                if a != b:
                    return f"{a} is not {b}: {text}"
        return ""


def _statements(lines):
    found = []
    for line in lines:
        if line.startswith("     ") and found:
            found[-1] += " " + line.strip()
        else:
            found.append(line.strip())
    return found


def _code(text):
    try:
        return compile(text.strip(), "told", "eval")
    except (SyntaxError, ValueError):
        return None
