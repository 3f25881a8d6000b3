"""What ever failed: tests/corpus/, one case a file, as Case.toml() writes it."""

from pathlib import Path

from .case import Case

FOLDER = Path(__file__).parents[1] / "corpus"


def paths():
    return sorted(FOLDER.glob("*.toml"))


def read(path):
    return Case.of(path.read_text())
