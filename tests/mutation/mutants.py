"""Mutants: one small change of one module, made in its syntax tree."""

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).parents[2]
PRINTERS = (
    "c_array", "c_family", "c_lines", "c_names", "cpp", "cuda", "cxx_view", "fortran", "glsl",
    "javascript", "javascript_numbers", "julia", "julia_view", "rust", "rust_layout", "rust_view",
    "shaders",
)  # fmt: skip
LEAST = 3  # mutants of a module, however small

COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
OPERATIONS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mod,
    ast.Mod: ast.FloorDiv, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitOr, ast.Pow: ast.Mult,
}  # fmt: skip
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}
SYMMETRIC = {"min", "max", "gcd", "lcm"}
# What is no behavior: decorators are caches and dataclasses, asserts never fail.
SKIPPED_FIELDS = {"annotation", "returns", "decorator_list", "type_params"}
SKIPPED = (ast.Assert, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal)
WORDS = ("Error", "Warning", "warn")  # calls whose arguments are a message


@dataclass(frozen=True)
class Mutant:
    """place: its number among all of the module; inside: it stands in the body of a function."""

    path: str
    line: int
    place: int
    inside: bool
    key: str

    def code(self):
        """The mutated module, compiled."""
        tree = _tree(self.path)
        site = next(s for k, s in enumerate(_sites(tree)) if k == self.place)
        site.put(site.changed)
        return compile(tree, str(ROOT / self.path), "exec", dont_inherit=True)


@dataclass
class _Site:
    """One change that can be made: chain[-1] is the node that changed takes the place of, where it
    stands in field[index] of chain[-2]."""

    chain: list
    field: str
    index: int | None
    changed: ast.AST
    where: str
    inside: bool

    def put(self, node):
        parent = self.chain[-2]
        if self.index is None:
            setattr(parent, self.field, node)
        else:
            getattr(parent, self.field)[self.index] = node
        ast.fix_missing_locations(ast.copy_location(node, self.chain[-1]))

    def said(self):
        """What is changed, as text: the statement, or a part of it where that is long."""
        own = next(k for k in range(len(self.chain) - 1, -1, -1) if _whole(self.chain[k]))
        before = _text(self.chain[own])
        if len(before) > 90 and own < len(self.chain) - 1:
            own = max(own + 1, len(self.chain) - 3)
        if own == len(self.chain) - 1:
            return f"{_text(self.chain[own])} -> {_text(self.changed)}"
        before = _text(self.chain[own])
        self.put(self.changed)
        after = _text(self.chain[own])
        self.put(self.chain[-1])
        return f"{before} -> {after}"


def _whole(node):
    return isinstance(node, ast.stmt | ast.match_case | ast.ExceptHandler | ast.Module)


def _text(node):
    """Its source; of what has a body only the head."""
    if hasattr(node, "body") and isinstance(node.body, list):
        node = copy.copy(node)
        node.body = [ast.Expr(ast.Constant(...))]
        for field in ("orelse", "finalbody", "handlers", "decorator_list"):
            if hasattr(node, field):
                setattr(node, field, [])
    if not isinstance(node, ast.stmt | ast.expr):
        return " ".join(type(node).__name__.split())
    return " ".join(ast.unparse(node).removesuffix("...").split())


def _tree(path):
    return ast.parse((ROOT / path).read_text())


def _sites(tree) -> Iterator[_Site]:
    yield from _below(tree, [tree], "", False)


def _below(node, chain, where, inside):
    for field, value in ast.iter_fields(node):
        if field in SKIPPED_FIELDS:
            continue
        within_it = inside and (field == "body" or not isinstance(node, ast.FunctionDef))
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(child, ast.AST) and not _skipped(child):
                named, within = where, within_it
                if isinstance(child, ast.FunctionDef | ast.ClassDef):
                    named = f"{where}.{child.name}".lstrip(".")
                    within = within_it or isinstance(child, ast.FunctionDef)
                for changed in _changed(child, chain, field, index):
                    yield _Site([*chain, child], field, index, changed, named, within)
                if not isinstance(child, ast.Raise):
                    yield from _below(child, [*chain, child], named, within)


def _skipped(node):
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True  # a docstring
    if isinstance(node, ast.FunctionDef) and node.name == "__repr__":
        return True
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
        return True
    if isinstance(node, ast.Assign) and "__all__" in ast.dump(node.targets[0]):
        return True
    if isinstance(node, ast.Call):
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name.endswith(WORDS) or name in ("TypeVar", "NewType"):
            return True
    return isinstance(node, SKIPPED)


def _changed(node, chain, field, index):
    """What may stand in the place of a node."""
    parent = chain[-1]
    match node:
        case ast.Compare():
            for k, op in enumerate(node.ops):
                ops = [*node.ops[:k], COMPARISONS[type(op)](), *node.ops[k + 1 :]]
                yield ast.Compare(node.left, ops, node.comparators)
        case ast.BinOp():
            if type(node.op) in OPERATIONS:
                yield ast.BinOp(node.left, OPERATIONS[type(node.op)](), node.right)
        case ast.BoolOp():
            yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
            for k in range(len(node.values)):
                left = [*node.values[:k], *node.values[k + 1 :]]
                yield left[0] if len(left) == 1 else ast.BoolOp(node.op, left)
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            yield node.operand
        case ast.Constant(value=bool()):
            yield ast.Constant(not node.value)
        case ast.Constant(value=int()):
            yield ast.Constant(node.value + 1)
            if node.value > 0:
                yield ast.Constant(node.value - 1)
        case ast.Call(args=[a, b, *more]):
            same = isinstance(node.func, ast.Name) and node.func.id in SYMMETRIC
            starred = isinstance(a, ast.Starred) or isinstance(b, ast.Starred)
            if not same and not starred and ast.dump(a) != ast.dump(b):
                yield ast.Call(node.func, [b, a, *more], node.keywords)
        case ast.Name(id=name, ctx=ast.Load()):
            if name in NAMES:
                yield ast.Name(NAMES[name], ast.Load())
        case ast.Slice():
            if node.lower:
                yield ast.Slice(None, node.upper, node.step)
            if node.upper:
                yield ast.Slice(node.lower, None, node.step)
        case ast.Expr() | ast.AugAssign() | ast.Raise() | ast.Break() | ast.Continue():
            yield ast.Pass()
        case ast.Assign():
            if not any(isinstance(t, ast.Name | ast.Tuple) for t in node.targets):
                yield ast.Pass()
        case ast.Return():
            last = isinstance(parent, ast.FunctionDef) and parent.body[-1] is node
            if not last:
                yield ast.Pass()
            elif node.value and not isinstance(node.value, ast.Constant):
                yield ast.Return(ast.Constant(None))
    if field in ("test", "ifs") and not isinstance(node, ast.Constant):
        if not isinstance(parent, ast.While):
            yield ast.Constant(True)
        yield ast.Constant(False)


def paths():
    """The modules that are mutated."""
    found = [f"lego_emit/printers/{name}.py" for name in PRINTERS]
    for folder in ("arith", "lower", "emit"):
        found += [
            f"lego_emit/{folder}/{p.name}" for p in (ROOT / "lego_emit" / folder).glob("*.py")
        ]
    return sorted(p for p in found if not p.endswith("__init__.py"))


def every(path):
    """All mutants of a module."""
    met, found = Counter(), []
    for place, site in enumerate(_sites(_tree(path))):
        key = f"{path} {site.where}: {site.said()}"
        met[key] += 1
        if met[key] > 1:
            key = f"{key} #{met[key]}"
        line = next(n.lineno for n in reversed(site.chain) if hasattr(n, "lineno"))
        found.append(Mutant(path, line, place, site.inside, key))
    return found


def sample(seed, count):
    """About so many mutants, as many of a module as it is large, the same ones for the same seed;
    none that compiles to what the module does. Which ones their texts decide: most stay when a
    module changes elsewhere."""

    def rank(mutant):
        return sha256(f"{seed}:{mutant.key}".encode()).digest()

    all_of = {path: sorted(every(path), key=rank) for path in paths()}
    total, found = sum(map(len, all_of.values())), []
    for path, mutants in all_of.items():
        wanted = max(LEAST, round(count * len(mutants) / total))
        plain = compile(_tree(path), str(ROOT / path), "exec", dont_inherit=True)
        taken = (m for m in mutants if m.code() != plain)
        found += [m for m, _ in zip(taken, range(wanted), strict=False)]
    return sorted(found, key=rank)
