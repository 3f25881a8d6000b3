"""What notebooks show: code, tables and folded parts as HTML.

Nothing is loaded from elsewhere, and no color but the code's is set: those stand out on a light and
on a dark ground.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from typing import Any

# Kinds of words of Pygments, and colors with a contrast of 4.5 to white and to black.
COLORS = {
    "Comment": "#767676",
    "Keyword": "#A255C5",
    "Keyword.Type": "#008388",
    "Literal.Number": "#B3601A",
    "Literal.String": "#4F8217",
    "Name.Builtin": "#008388",
    "Name.Function": "#2878C8",
    "Comment.Preproc": "#A6617C",
}
CODE = "line-height: 1.35; margin: 0; overflow-x: auto; text-align: left; background: none;"
CELL = "text-align: left; padding: 0.15em 0.8em; vertical-align: top;"


def code(text: str, file: str = "") -> str:
    """Text as it stands, with its words colored where Pygments is installed and knows the language by
    the file's name."""
    made = _highlighted(text, file) if file else None
    return f'<pre style="{CODE}">{escape(text, quote=False) if made is None else made}</pre>\n'


def folded(summary: str, body: str, is_open: bool = False) -> str:
    """A part that opens when it is clicked. body: HTML."""
    return f"<details{' open' * is_open}><summary>{escape(summary)}</summary>\n{body}</details>\n"


def table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Rows of texts below a heading."""
    lines = [_row("th", heading), *(_row("td", row) for row in rows)]
    return f"<table>\n{''.join(lines)}</table>\n"


def line(text: str) -> str:
    """A line of text."""
    return f"<div>{escape(text)}</div>\n"


def _row(kind: str, cells: Sequence[str]) -> str:
    made = "".join(f'<{kind} style="{CELL}">{escape(cell)}</{kind}>' for cell in cells)
    return f"<tr>{made}</tr>\n"


def _highlighted(text: str, file: str) -> str | None:
    try:
        from pygments import highlight
        from pygments.lexers import get_lexer_for_filename
        from pygments.util import ClassNotFound
    except ImportError:
        return None
    try:
        lexer = get_lexer_for_filename(file, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None
    return highlight(text, lexer, _formatter())


@cache
def _formatter() -> Any:
    from pygments.formatters import HtmlFormatter
    from pygments.style import Style
    from pygments.token import string_to_tokentype

    styles: Mapping[Any, str] = {string_to_tokentype(k): c for k, c in COLORS.items()}
    own = type("Colors", (Style,), {"styles": styles, "background_color": ""})
    return HtmlFormatter(style=own, noclasses=True, nowrap=True)
