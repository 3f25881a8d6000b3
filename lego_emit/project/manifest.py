"""What a build remembers between two runs: which files it wrote, from what.

The memory can go at any time. A missing, old or broken manifest means that all is made again; files
that already hold the right text are taken over as they are.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from ..errors import BuildError
from ..files import sweep, write_if_changed

FOLDER = ".lego-emit"
MANIFEST = "manifest.json"
FORMAT = 1


@dataclass
class Record:
    """One unit's last build.

    fingerprint: a hash of all that the text depends on.
    inputs: the files that went into it.
    """

    fingerprint: str
    inputs: list[str]


@dataclass
class Manifest:
    """units: first output -> Record. files: output -> the hashes that it has when it is ours; two
    while it is being rewritten, so that an interrupted build is not taken for a hand's edit."""

    units: dict[str, Record] = field(default_factory=dict)
    files: dict[str, list[str]] = field(default_factory=dict)

    def save(self, folder: Path, owner: str) -> None:
        """Write it to the folder, in one step."""
        content = {
            "format": FORMAT,
            "owner": owner,
            "units": {k: [r.fingerprint, r.inputs] for k, r in self.units.items()},
            "files": self.files,
        }
        write_if_changed(folder / MANIFEST, json.dumps(content, indent=0) + "\n")


def read(folder: Path, owner: str) -> Manifest:
    """The manifest in a folder; an empty one where there is none that can be used.

    Raises BuildError where another project's lies there: one of the two would remove what the other
    has made.
    """
    try:
        content = json.loads((folder / MANIFEST).read_bytes())
        if content["format"] != FORMAT:
            return Manifest()
        units = {str(k): Record(str(f), _texts(i)) for k, (f, i) in content["units"].items()}
        files = {str(k): _texts(v) for k, v in content["files"].items()}
        other = str(content["owner"])
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return Manifest()
    if other != owner:
        raise BuildError(
            f"{folder.parent} belongs to the build of {folder.parent / other}; give another "
            f"--out-dir, or remove {folder} to hand it over"
        )
    return Manifest(units, files)


def _texts(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(x, str) for x in value):
        raise TypeError
    return value


def digest(data: bytes) -> str:
    """The SHA-256 of some bytes, as hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def file_digest(path: str | os.PathLike[str]) -> str:
    """The hash of a file's content, "" where it cannot be read."""
    try:
        with open(path, "rb") as stream:
            return digest(stream.read())
    except OSError:
        return ""


@contextmanager
def locked(folder: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Make the folder and hold its lock, which goes with the process; waiting() is called once
    where another build holds it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        stream = open(folder / "lock", "ab")
    except OSError as error:
        raise BuildError(
            f"cannot write {folder}: {error.strerror or error}; give a folder that can be written "
            f"with --out-dir"
        ) from None
    with stream:
        if not _try_lock(stream):
            waiting()
            while not _try_lock(stream):
                time.sleep(0.05)
        for name in (".gitignore", MANIFEST):
            sweep(folder / name)
        write_if_changed(folder / ".gitignore", "*\n")
        yield


def _try_lock(stream: IO[bytes]) -> bool:
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        with suppress(OSError):
            stream.seek(0)
            # Elsewhere a checker of types finds nothing in msvcrt.
            msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)  # pyright: ignore[reportAttributeAccessIssue]
            return True
        return False
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True
