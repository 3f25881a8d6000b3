"""One case: a text and settings; what lego_emit is given, and the reference on integers."""

import linecache
import re
import tomllib
import types
from dataclasses import dataclass, field, fields
from functools import lru_cache
from hashlib import blake2b

from lego_emit import LegoError, generate
from lego_emit.arguments import candidates
from lego_emit.emit.registry import printer
from lego_emit.emitted import emit_program
from lego_emit.pipeline import build_program

from .words import REFERENCE, WORDS

LAYOUT = re.compile(r"By\(|\.(apply|inv)\(|\bL\[")
AXES = re.compile(r"\bL\[([^\]]*)\]")


@dataclass(frozen=True)
class Case:
    """text defines `layout`, or a function `f` of sizes and indices; a ':' stands in an L[..] only.

    sizes, assume, index_type, base, cost, target: what generate() is given.
    domain: relations that hold where the user means f to be called, beside assume; in what the
        reference counts from 0.
    indices: f's parameters that count from base.
    points: numbers of parameters to look at, beside those that are found.
    refused: the class of the refusal that the case must meet; "" where it may not be refused,
        "?" where nobody knows.
    promise: what the first function's header must say of its result; "" where anything is right.
    """

    text: str
    sizes: dict = field(default_factory=dict)
    assume: tuple = ()
    domain: tuple = ()
    indices: tuple = ()
    index_type: str = "auto"
    base: int = 0
    cost: str = "latency"
    target: str = "cuda"
    points: tuple = ()
    refused: str = "?"
    promise: str = ""

    @property
    def start(self):
        """What an index function counts from: a formula without a layout has no indices."""
        return self.base if LAYOUT.search(self.text) else 0

    @property
    def family(self):
        """What kind of case it is, in a word."""
        if self.text.startswith("layout"):
            return "layout"
        if "fori_loop(" in self.text:
            return "loop"
        if "L[" in self.text or "L.apply" in self.text:
            return "index"
        if "one.inv" in self.text:
            return "moved"
        used = (".apply(", ".inv(", ")[")
        whole = "By(" in self.text and not any(part in self.text for part in used)
        return "sizes" if whole else "function"

    def subject(self):
        """The layout or the function, for lego_emit."""
        return _defined(self.text, dict(WORDS))

    def generate(self, subject, target=None, index_type=None):
        return generate(
            subject,
            target or self.target,
            name="f",
            sizes=dict(self.sizes),
            assume=list(self.assume),
            index_type=index_type or self.index_type,
            base=self.base,
            cost=self.cost,
        )

    def asked(self, target, index_type):
        """What a language asks of lowering."""
        given = printer(target)
        return candidates(index_type, given), given.bit_operations, given.lazy_select

    def emit(self, target, index_type, programs):
        """What generate() gives; programs: by asked(), what was lowered of this case for other
        languages, which serves those that ask the same of it."""
        key = self.asked(target, index_type)
        if key not in programs:
            try:
                programs[key] = build_program(
                    self.subject(), printer(target), "f", sizes=dict(self.sizes),
                    assume=list(self.assume), index_type=index_type, base=self.base, cost=self.cost,
                )  # fmt: skip
            except LegoError as error:
                programs[key] = error
        if isinstance(programs[key], LegoError):
            raise programs[key]
        return emit_program(programs[key], target, sizes=dict(self.sizes), index_types=[index_type])

    def reference(self, values):
        """The layout, or the function's result, on integers; values: of all parameters that are no
        layout's own indices, counted from 0, the k-th ':' as axis<k>. Raises what the text raises.
        """
        numbers = {**values, **self.sizes}
        space = {**REFERENCE, **numbers}
        space["symbols"] = lambda names: _single([numbers[n] for n in names.split()])
        space["sympy_symbols"] = space["symbols"]
        found = _defined(_without_axes(self.text), space)
        if isinstance(found, types.FunctionType):
            names = found.__code__.co_varnames[: found.__code__.co_argcount]
            return found(*(numbers[n] for n in names))
        return found

    def toml(self, about=""):
        """As a file of the corpus."""
        lines = [f"# {line}" for line in about.splitlines()]
        for f in fields(self):
            value = getattr(self, f.name)
            if f.name != "text" and value == (
                f.default_factory() if f.name == "sizes" else f.default
            ):
                continue
            lines.append(f"{f.name} = {_toml(value)}")
        return "\n".join(lines) + "\n"

    @classmethod
    def of(cls, text):
        """The case that toml() wrote."""
        read = tomllib.loads(text)
        for name in ("assume", "domain", "indices", "points"):
            if name in read:
                read[name] = tuple(read[name])
        return cls(**read)


def _single(values):
    return values[0] if len(values) == 1 else tuple(values)


@lru_cache(maxsize=64)
def _without_axes(text):
    """The k-th ':' is axis<k>."""
    counted = iter(range(99))
    return AXES.sub(
        lambda m: f"L[{re.sub(':', lambda _: f'axis{next(counted)}', m.group(1))}]", text
    )


@lru_cache(maxsize=64)
def _compiled(text):
    """The code of a text, which its functions find where a file's would be."""
    name = f"case {blake2b(text.encode(), digest_size=8).hexdigest()}"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    return compile(text, name, "exec")


def _defined(text, space):
    exec(_compiled(text), space)
    return space["layout"] if "layout" in space else space["f"]


def _toml(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k} = {v}" for k, v in value.items()) + "}"
    if isinstance(value, (tuple, list)):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, str) and "\n" in value:
        assert "'''" not in value
        return f"'''\n{value}'''"
    if isinstance(value, str):
        return f"'{value}'" if '"' in value or "\\" in value else f'"{value}"'
    return str(value)
