"""The source of a function: its tree, spans of it, and messages with a caret below them."""

from __future__ import annotations

import ast
import inspect
import types

from ..errors import KernelError


class Source:
    """A function's text, as it stands in its file.

    text: its lines from the first decorator on; first: the number of that line in the file; node: the
    function in the text's tree.
    """

    def __init__(self, function: types.FunctionType):
        self.function = function
        self.file = function.__code__.co_filename
        name = function.__qualname__
        if function.__name__ == "<lambda>":
            raise KernelError("jit: a lambda has no lines of its own; write def kernel(..)")
        if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
            raise KernelError(f"jit: {name} is an async function, which no kernel is")
        try:
            lines, self.first = inspect.getsourcelines(function)
        except (OSError, TypeError, IndentationError, SyntaxError):
            raise KernelError(
                f"jit: the source of {name} cannot be found (it was made by exec, typed in a plain Python prompt, or "
                "in a cell under %%time); put it in a file, or in a cell of IPython, which keeps it"
            ) from None
        self.text = "".join(lines)
        if not self.text.endswith("\n"):
            self.text += "\n"
        self.above = int(self.text[:1] in (" ", "\t"))  # a line that makes indented text a tree
        above = "if True:\n" * self.above
        try:
            tree = ast.parse(above + self.text)
        except SyntaxError as error:
            raise KernelError(
                f"{self.file}, line {self.first}: the lines of {name} are no function: {error.msg}"
            ) from None
        found = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
        if (
            not found
            or not isinstance(found[0], ast.FunctionDef)
            or found[0].name != function.__name__
        ):
            raise KernelError(
                f"{self.file}, line {self.first}: no def of {name} begins there; is the file another one "
                "than what runs?"
            )
        self.node = found[0]
        self._lines = self.text.encode().splitlines(keepends=True)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Where a node begins and ends, in bytes of the text."""
        return (
            self._starts[node.lineno - 1 - self.above] + node.col_offset,  # type: ignore[attr-defined]
            self._starts[node.end_lineno - 1 - self.above] + node.end_col_offset,  # type: ignore[attr-defined]
        )

    def said(self, node: ast.AST) -> str:
        """A node as its author wrote it, on one line."""
        if isinstance(node, ast.Name):
            return node.id
        begin, end = self.span(node)
        text = self.text.encode()[begin:end].decode()
        return ast.unparse(node) if "\n" in text else text

    def line(self, node: ast.AST) -> int:
        """The number of a node's line in the file."""
        return self.first + node.lineno - 1 - self.above  # type: ignore[attr-defined]

    def error(self, node: ast.AST, message: str) -> KernelError:
        """An error at a node: the file, the line and the column, and a caret below its line."""
        line = self._lines[node.lineno - 1 - self.above].decode().rstrip()  # type: ignore[attr-defined]
        column = len(line.encode()[: node.col_offset].decode())  # type: ignore[attr-defined]
        shown = line.lstrip()
        caret = " " * (column - (len(line) - len(shown)))
        return KernelError(
            f"{self.file}, line {self.line(node)}, column {column + 1}: {message}\n    {shown}\n    {caret}^"
        )

    def replaced(self, edits: list[tuple[int, int, str]]) -> str:
        """The text with other texts in place of spans; its lines keep their numbers."""
        text, at = self.text.encode(), 0
        found: list[bytes] = []
        for begin, end, new in sorted(edits):
            found += [text[at:begin], new.encode()]
            at = end
        return b"".join([*found, text[at:]]).decode()

    def lines_of(self, node: ast.AST) -> int:
        """How many line ends are within a node."""
        begin, end = self.span(node)
        return self.text.encode()[begin:end].count(b"\n")

    def filled(self, node: ast.stmt, text: str) -> str:
        """A statement's text with as many line ends as it had, also where another is behind it."""
        rest = self.text.encode()[self.span(node)[1] :].partition(b"\n")[0].strip()
        more = self.lines_of(node) - text.count("\n")
        return text + (" \\\n" if rest.startswith(b";") else "\n") * more

    def ends_line(self, node: ast.stmt) -> bool:
        """Whether nothing, not even a comment, is behind a statement on its line."""
        return not self.text.encode()[self.span(node)[1] :].partition(b"\n")[0].strip()

    def stands_alone(self, node: ast.stmt) -> bool:
        """Whether nothing else is on a statement's lines, but a comment."""
        begin, end = self.span(node)
        text = self.text.encode()
        before = text[:begin].rpartition(b"\n")[2]
        after = text[end:].partition(b"\n")[0].strip()
        return not before.strip() and (not after or after.startswith(b"#"))
