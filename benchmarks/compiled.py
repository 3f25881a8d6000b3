"""A C function as machine code: counted, and ready to be called."""

from __future__ import annotations

import ctypes
import re
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory


def counted(source: str, compiler: str, level: str) -> int:
    """The instructions of the function `position`, its return included; level: such as -O2."""
    flags = [compiler, "-std=gnu11", level, "-fPIC", "-fno-asynchronous-unwind-tables"]
    command = [*flags, "-x", "c", "-S", "-o", "-", "-"]
    text = subprocess.run(command, input=source, check=True, capture_output=True, text=True).stdout
    body = text[text.index("\nposition:") :]
    body = body[: body.index(".size\tposition")]
    return len(re.findall(r"^\t[a-z]", body, re.MULTILINE))


def loaded(source: str, compiler: str, level: str) -> ctypes.CDLL:
    """The functions of a C file."""
    with TemporaryDirectory() as folder:
        library = str(Path(folder, "row.so"))
        flags = [compiler, "-std=gnu11", level, "-fPIC", "-shared"]
        command = [*flags, "-x", "c", "-o", library, "-"]
        subprocess.run(command, input=source, check=True, text=True)
        return ctypes.CDLL(library)
