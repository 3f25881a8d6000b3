"""Writing files: atomically, and only when the content changes."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from .errors import LegoError


def write_if_changed(path: str | os.PathLike[str], text: str | bytes) -> bool:
    """Write bytes, or text as UTF-8 with \\n line ends; True where the file changed.

    The file is replaced in one step, so that nobody sees half of it, and an unchanged one keeps
    its time stamp. Raises LegoError where it cannot be written.
    """
    target = Path(path)
    if isinstance(text, str):
        text = text.encode("utf-8", "surrogateescape")  # file names in a text need not be UTF-8
    try:
        if target.is_file() and target.read_bytes() == text:
            return False
        real = target.resolve()
        handle, name = tempfile.mkstemp(prefix=f".{real.name}.", dir=real.parent)
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


def write_all(files: Mapping[Path, str | bytes]) -> list[Path]:
    """Write all files or, where one cannot be written, none; missing folders are made. The paths.

    Raises LegoError as write_if_changed does.
    """
    made: list[Path] = []
    before: list[tuple[Path, bytes | None]] = []
    path = Path()
    try:
        for path, text in files.items():
            made += _make_folder(path.parent)
            old = path.read_bytes() if path.is_file() else None
            if write_if_changed(path, text):
                before.append((path, old))
    except (LegoError, OSError) as error:
        for path, old in reversed(before):
            path.unlink() if old is None else path.write_bytes(old)
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
