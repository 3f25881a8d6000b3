"""How many lines the functions of copies have, of each memory layout of the catalogue with symbols for its sizes.

python tests/copy_lengths.py LANGUAGE [--threads] prints a table: the longest function to the layout and back, of
elements of 4 bytes, in C and Rust also of 1 byte.
"""

import re
import sys

from lego_emit import Row, catalogue, copy, symbols
from lego_emit.errors import InternalError, LegoError

MOST = 150
C = r"^(?:static )?inline [^;]*?\{$.*?^\}$"
FUNCTIONS = {
    "c": C,
    "cpp": C,
    "rust": r"^( *)(?:pub )?(?:const )?(?:unsafe )?fn\b.*?^\1\}$",  # in modules, too
    "fortran": r"^  (?:pure |elemental )*(?:subroutine|integer[^\n]*function)\b.*?^  end (?:subroutine|function)",
    "julia": r"^function\b.*?^end$",
    "javascript": r"^(?:export )?function\b.*?^\}$",
    "numpy": r"^def\b.*?(?=^\S|\Z)",
}


def symbolic(name):
    """Rows and a layout of the catalogue, each size a symbol where it may be one."""
    entry = catalogue[name]
    sizes = {n: v for n, v in entry.example.items() if type(v) is int and n != "bits"}
    for least in (0, 8):  # small numbers are kinds of a layout in some
        symbol = {n: symbols(n) for n, v in sizes.items() if v >= least}
        try:
            layout = entry(**{**entry.example, **symbol})
            break
        except LegoError:
            if least:
                raise
    return Row(*layout.dims), layout


def longest(text, language):
    """The lines of the longest function in a text, NAME_fits aside: one condition, which Ruff gives up to 152 lines."""
    found = re.finditer(FUNCTIONS[language], text, re.MULTILINE | re.DOTALL)
    lines = (own[0].rstrip().splitlines() for own in found)
    return max(len(own) for own in lines if "def moved_fits(" not in own[0])


def lengths(name, language, threads=False):
    """Those to a layout and back; None where there is no such copy. Kernels, which only some languages have, depend on
    the bytes of an element."""
    found = []
    for way in (1, -1):
        for size in (1, 4) if language in ("c", "rust") else (4,):
            try:
                unit = copy(
                    *symbolic(name)[::way], language, element=size, name="moved", threads=threads
                )
                found.append(longest(str(unit), language))
            except InternalError:  # from the check of its nest
                raise
            except LegoError:
                found.append(None)
    return found


if __name__ == "__main__":
    for name, entry in catalogue.items():
        if entry(**entry.example).results is None:
            print(f"{name:28}", *lengths(name, sys.argv[1], "--threads" in sys.argv), flush=True)
