"""Text of a user's in the comments of a file."""

from __future__ import annotations

import re
from dataclasses import replace

from ..ir.program import Group, Program
from .naming import Naming

UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\uffff\U000e0000-\U000e007f]"
)


def commented(text: str) -> str:
    """A user's words as they may stand in any language's comment, on one line: a harmful character
    as its number, U+202E; a blank within what would end a comment or carry it on."""

    def shown(match: re.Match[str]) -> str:
        char = match.group()
        return " " if char.isspace() else f"U+{ord(char):04X}"

    text = UNSEEN.sub(shown, text)
    text = text.replace("*/", "* /").replace("??/", "?? /")  # ??/ is a backslash in C
    return re.sub(r"\\(?=\s|$)", "U+005C", text)  # which joins lines at a line's end


def _group(g: Group) -> Group:
    return replace(g, meaning=commented(g.meaning), doc=commented(g.doc))


def in_comments(program: Program, naming: Naming) -> Program:
    """The program with all that its file says in comments as commented() gives it; names that are
    spelled as the user wants them are not said to be renamed."""
    functions = tuple(
        replace(
            f,
            summary=commented(f.summary),
            returns=commented(f.returns),
            params=tuple(replace(p, meaning=commented(p.meaning)) for p in f.params),
            groups=tuple(map(_group, f.groups)),
            result=f.result and _group(f.result),
            renamed=tuple(
                (commented(old), new)
                for old, new in f.renamed
                if new not in (naming.local(old), naming.public(old))
            ),
        )
        for f in program.functions
    )
    return replace(
        program,
        title=commented(program.title),
        header=tuple(map(commented, program.header)),
        functions=functions,
        constants=tuple(replace(p, meaning=commented(p.meaning)) for p in program.constants),
    )


def summed(text: str, mark: str) -> str:
    """A file's text with the checksum of what stands between its marks in their place. It has 31
    bits, as a preprocessor's integer may have 32 with its sign, and is not 0, as a macro without a
    value may be taken for."""
    import zlib

    guarded = "".join(text.split(mark)[1:-1])
    return text.replace(mark, f"0x{zlib.crc32(guarded.encode()) & 0x7FFFFFFF or 1:08x}")
