"""Files: tables of integers are read, and what is read is noted; texts are written atomically, and only when they
change."""

from __future__ import annotations

import errno
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from glob import escape
from io import BytesIO
from pathlib import Path
from typing import Any

from .errors import LayoutError, LegoError

_INTEGER = re.compile(r"[+-]?(?:0x[0-9a-f]+|[0-9]+)", re.ASCII | re.IGNORECASE)
_BRACKETS = re.compile(r"[][(){};]")  # of a list in some language
_TEMPORARY = ".lego-emit"
_READ: ContextVar[set[Path] | None] = ContextVar("read", default=None)


@contextmanager
def noting() -> Iterator[set[Path]]:
    """The files beside Python's own that are read while the block runs: tables, templates."""
    token = _READ.set(found := set())
    try:
        yield found
    finally:
        _READ.reset(token)


def note(path: Path) -> None:
    """A file is about to be read."""
    if (noted := _READ.get()) is not None:
        noted.add(path.absolute())


def integers(path: Path) -> Any:
    """What a file holds: the array of an .npy; of text a list for each line, of the integers in it
    with commas or spaces between them, and brackets around them. # begins a comment, and lines without integers are left out.

    Raises LayoutError where it cannot be read, and where an entry is missing or is no integer.
    """
    note(path)
    try:
        content = path.read_bytes()
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or error
        raise LayoutError(f"{str(path)!r} cannot be read: {said}") from None
    if path.suffix == ".npy":
        return _array(content, f"{str(path)!r}")
    try:
        lines = content.decode("utf-8-sig").splitlines()
    except ValueError:
        raise LayoutError(f"{str(path)!r} cannot be read: it is not UTF-8 text") from None
    rows = [_row(line, f"{str(path)!r}, line {n}") for n, line in enumerate(lines, 1)]
    return [row for row in rows if row]


def _array(content: bytes, place: str) -> Any:
    from .packages import numpy as np

    try:
        found = np.load(BytesIO(content), allow_pickle=False)
    except Exception:  # a header of nonsense fails in many ways
        found = None
    if not isinstance(found, np.ndarray):
        raise LayoutError(f"{place} cannot be read: it is no array that numpy.save wrote")
    return found


def _row(line: str, place: str) -> list[int]:
    """A line's integers; a comma at either end divides nothing."""
    cells = [cell.split() for cell in _BRACKETS.sub(" ", line.partition("#")[0]).split(",")]
    if not all(cells[1:-1]):
        raise LayoutError(f"{place}: no entry between two commas: {line[:60]!r}")
    words = [word for cell in cells for word in cell]
    try:
        if all(map(_INTEGER.fullmatch, words)):
            return [int(word, 16 if "x" in word.lower() else 10) for word in words]
    except ValueError:  # too many digits
        pass
    raise LayoutError(f"{place}: not integers: {line[:60]!r}")


def write_if_changed(path: str | os.PathLike[str], text: str | bytes) -> bool:
    """Write bytes, or text as UTF-8 with \\n line ends; True where the file changed.

    The file is replaced in one step, so that nobody sees half of it, and an unchanged one keeps
    its time stamp; what is_stream() is written through. Raises LegoError where it cannot be written.
    """
    target = Path(path)
    if isinstance(text, str):
        text = text.encode("utf-8", "surrogateescape")  # file names in a text need not be UTF-8
    try:
        if is_stream(target):
            with os.fdopen(_opened(target), "wb") as stream:
                stream.write(text)
            return True
        if target.is_file() and target.read_bytes() == text:
            return False
        real = resolved(target)
        handle, name = tempfile.mkstemp(_TEMPORARY, f".{real.name}.", real.parent)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(text)
            mode = real.stat().st_mode & 0o777 if real.exists() else 0o666 & ~_umask()
            os.chmod(name, mode)
            os.replace(name, real)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise LegoError(f"cannot write {target}: {error.strerror or error}") from None
    return True


def resolved(path: Path) -> Path:
    """The absolute path that is meant, links followed. Raises LegoError where they go in a circle."""
    real = Path(os.path.realpath(path))
    if real.is_symlink():
        raise LegoError(f"cannot write {path}: {os.strerror(errno.ELOOP)}")
    return real


def is_stream(path: Path) -> bool:
    """Whether a path is no place for a file of its own: a device, a FIFO, a socket, or an open
    descriptor of this process, such as /dev/stdout, whatever that is."""
    if _descriptor(path) is not None:
        return True
    return path.exists() and not path.is_file() and not path.is_dir()


def _descriptor(path: Path) -> int | None:
    """The open descriptor of this process that a path names, as /dev/stdout and /dev/fd/63 do."""
    folders = "/dev/fd", f"/proc/{os.getpid()}/fd"
    for _ in range(40):  # links, as many as Linux follows
        if path.name.isdecimal() and os.path.realpath(path.parent) in folders:
            return int(path.name)
        if not path.is_symlink():
            return None
        path = path.parent / path.readlink()
    return None


def _opened(stream: Path) -> int:
    """A descriptor to write to a stream; it is neither made nor cut short."""
    number = _descriptor(stream)
    if number is not None:
        return os.dup(number)
    return os.open(stream, os.O_WRONLY | getattr(os, "O_BINARY", 0))


def sweep(path: Path) -> None:
    """Remove what write_if_changed left beside a file when its process was killed; nobody may be
    writing the file."""
    real = resolved(path)
    for left in real.parent.glob(f".{escape(real.name)}.*{_TEMPORARY}"):
        with suppress(OSError):
            left.unlink()


def write_all(files: Mapping[Path, str | bytes]) -> list[Path]:
    """Write all files or, where one cannot be written, none; missing folders are made. The paths.

    Streams come last: what they took is not put back. Raises LegoError as write_if_changed does.
    """
    made: list[Path] = []
    before: list[tuple[Path, bytes | None]] = []
    path = Path()
    try:
        for path in sorted(files, key=is_stream):
            made += _make_folder(path.parent)
            kept = not is_stream(path)
            old = path.read_bytes() if kept and path.is_file() else None
            if write_if_changed(path, files[path]) and kept:
                before.append((path, old))
    except (LegoError, OSError) as error:
        for path, old in reversed(before):
            with suppress(LegoError):  # what cannot be put back stays whole
                path.unlink() if old is None else write_if_changed(path, old)
        for folder in reversed(made):
            folder.rmdir()
        if isinstance(error, LegoError):
            raise
        raise LegoError(f"cannot write {path}: {error.strerror or error}") from None
    return list(files)


def _make_folder(folder: Path) -> list[Path]:
    """Make a folder and its parents; those that were made, outermost first."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for new in reversed(missing):
        new.mkdir()
    return missing[::-1]


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
