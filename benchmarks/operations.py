"""The arithmetic operations of indices that a user writes for a kernel, and those of the kernel made.

Counted are + - * / // % ** << >> & | ^ ~ and a minus before a value, wherever they stand: anywhere in
layouts.py and in a template's placeholders and tags; in CUDA C in subscripts, loop heads, declarations
of integers and pointers, and in what is added to a pointer; in Python in what an address, a mask or a
range is made of. Sums and products of the kernel's values do not count, nor do comparisons, nor in
Python what adds an offset to a pointer: the paper's softmax, which cannot do without, counts 0.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Iterator
from pathlib import Path

import jinja2
from jinja2 import nodes

from lego_emit.kernels.tags import KernelTags

INTEGERS = r"(?:unsigned|int|(?:long )?long|std::u?int\d+_t|std::size_t|bool)"
POINTER = re.compile(r"\b\w+\s*(?:\*\s*(?:const|__restrict__)?\s*|\[\]\s*|&\s*)(\w+)|\b(\w+)\[")
DECLARED = re.compile(
    rf"(?:^|[;{{(])\s*(?:alignas\(\d+\) )?(?:const )?(?:__shared__ )?(?:const )?(?:{INTEGERS}\b|auto\b|\w+\s*\*)"
)
TOKEN = re.compile(r"\d[\w.]*|[A-Za-z_]\w*|<<=|>>=|\+\+|--|&&|\|\||<<|>>|[-+*/%&|^=!<>]=|->|::|\S")
BINARY = {"+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^"}
UNARY = {"-", "~"}
LANGUAGE = {"return", "const", "case", "void", "bool", "int", "long", "unsigned", "float", "double"}
LANGUAGE |= {"__half", "__half2", "uint4"}
OPENING, CLOSING = {"(": ")", "[": "]", "{": "}"}, {")", "]", "}"}


def in_layouts(text: str) -> int:
    """Of a file of layouts and functions in Python."""
    return sum(map(_is_operation, ast.walk(ast.parse(text))))


def _is_operation(node: ast.AST) -> bool:
    if isinstance(node, ast.UnaryOp):
        negative = isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant)
        return negative or isinstance(node.op, ast.Invert)
    return isinstance(node, ast.BinOp | ast.AugAssign)


def in_template(template: Path) -> int:
    """Of a template: in its placeholders and tags, in text that these are given, and around them."""
    text = template.read_text()
    parsed = jinja2.Environment(extensions=[KernelTags]).parse(text)
    arithmetic = (nodes.Add, nodes.Sub, nodes.Mul, nodes.Div, nodes.FloorDiv, nodes.Mod, nodes.Pow)
    count = sum(1 for _ in parsed.find_all((*arithmetic, nodes.Neg)))
    for node in parsed.find_all(nodes.Const):
        if isinstance(node.value, str) and re.search(r"\w\s*[-+*/%]", node.value):
            count += sum(1 for _ in _operations(node.value, everywhere=True))
    rest = re.sub(r"\{%-? index (.*?)=(.*?)%\}", r"\1= {{\2}}", text, flags=re.S)
    rest = re.sub(r"\{#.*?#\}|\{%.*?%\}", " ", rest, flags=re.S)
    if ".py." in template.name:
        rest = re.sub(r"(?<!\w)\{\{.*?\}\}", _placeholder, rest, flags=re.S)
    return count + in_kernel(re.sub(r"\{\{.*?\}\}", "placeholder", rest, flags=re.S), template.name)


def _placeholder(found: re.Match[str]) -> str:
    """A value of the names that a placeholder speaks of."""
    names = dict.fromkeys(re.findall(r"[A-Za-z_]\w*", found[0]))
    return f"placeholder({', '.join(n for n in names if not keyword.iskeyword(n))})"


def in_kernel(text: str, name: str) -> int:
    """Of a kernel's own text, CUDA C or, by the name of its file, Python."""
    if name.removesuffix(".j2").endswith(".py"):
        return _in_python(text)
    bare = re.sub(r'//[^\n]*|/\*.*?\*/|^\s*#[^\n]*|"(?:\\.|[^"\\])*"', " ", text, flags=re.S | re.M)
    return sum(1 for _ in _operations(bare))


# -- CUDA C --------------------------------------------------------------------------------------


def _operations(text: str, everywhere: bool = False) -> Iterator[str]:
    """The operators of indices. A part of the text counts whole: a subscript, a loop's head, the
    statement that declares an integer or a pointer, and what is added to a pointer."""
    pointers = {a or b for a, b in POINTER.findall(text)}
    tokens = [(m[0], m.start()) for m in TOKEN.finditer(text)]
    declared = {m.end() for m in DECLARED.finditer(text)}
    open_: list[tuple[str, bool]] = [("", everywhere)]  # the bracket, whether its inside counts
    statement, before, added = False, "", -1
    for k, (token, start) in enumerate(tokens):
        if any(start < end <= start + len(token) for end in declared):
            statement = True
        counts = statement or open_[-1][1] or added >= 0
        value = before == "]" and open_[-1][0] != "[" and not everywhere  # an element, not an index
        operand = bool(re.fullmatch(r"\w+|[\])]", before)) and before not in LANGUAGE
        after = tokens[k + 1][0] if k + 1 < len(tokens) else ""
        if token in OPENING:
            open_.append((token, token == "[" or (token == "(" and (counts or before == "for"))))
        elif token in CLOSING:
            open_.pop()
            added = -1 if len(open_) <= added else added
        elif token in ("+", "-") and before in pointers and open_[-1][0] == "(":
            added = len(open_)
            yield token
        elif token == "," and added == len(open_):
            added = -1
        elif token == ";":
            statement = False
        elif token in BINARY and operand and counts and not value and after not in (",", ")"):
            yield token
        elif token in ("+=", "-=", "*=", "/=", "%=") and open_[-1][0] == "(" and counts:
            yield token
        elif token in UNARY and not operand and counts and not after[:1].isdigit():
            yield token
        if token in ("{", "}"):
            statement = False
        before = token


# -- Python --------------------------------------------------------------------------------------

ADDRESSED = {"load": (0, "mask"), "store": (0, "mask"), "arange": (0, 1), "range": (0, 1, 2)}


def _in_python(text: str) -> int:
    """In what addresses, masks and ranges are made of, through any number of assignments."""
    functions = [f for f in ast.walk(ast.parse(text)) if isinstance(f, ast.FunctionDef)]
    return sum(map(_is_operation, (node for f in functions for node in _leading(f))))


def _leading(function: ast.FunctionDef) -> set[ast.AST]:
    """The nodes of a function that addresses, masks and ranges are made of, but for the sums of a
    pointer and an offset."""
    wanted: list[ast.AST] = []
    addresses: list[ast.AST] = []
    made: dict[str, list[ast.AST]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Call):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            places = ADDRESSED.get(called, ())
            wanted += [a for k, a in enumerate(node.args) if k in places]
            addresses += node.args[:1] if called in ("load", "store") else []
            wanted += [a.value for a in node.keywords if a.arg in places]
        if isinstance(node, ast.Assign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for name in (n for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)):
                made.setdefault(name.id, []).append(node)
    seen: set[ast.AST] = set()
    while wanted:
        for node in ast.walk(wanted.pop()):
            if node not in seen and isinstance(node, ast.Name):
                wanted += [n for n in made.get(node.id, ()) if n not in seen]
            seen.add(node)
    return seen - _pointers(addresses, made)


def _pointers(addresses: list[ast.AST], made: dict[str, list[ast.AST]]) -> set[ast.AST]:
    """The sums that are addresses themselves, through any number of assignments."""
    found: set[ast.AST] = set()
    while addresses:
        node = addresses.pop()
        if node in found:
            continue
        if isinstance(node, ast.AugAssign) or (
            isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)
        ):
            found.add(node)
        elif isinstance(node, ast.Assign):
            addresses.append(node.value)
        elif isinstance(node, ast.Name):
            addresses += made.get(node.id, ())
    return found
