"""What is no regular file is written through: a device, a FIFO, /dev/stdout, whatever that is."""

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner

from lego_emit import Row, generate
from lego_emit.cli import main
from lego_emit.errors import LegoError
from lego_emit.files import write_all, write_if_changed

KERNEL = "def f(i):\n    return 3 * i + 1\n"
pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="FIFOs are of POSIX")


@pytest.fixture
def fifo(tmp_path):
    """A FIFO and a function that gives what was written to it."""
    path = tmp_path / "pipe.h"
    os.mkfifo(path)
    read = []
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()), daemon=True)
    reader.start()

    def taken():
        reader.join(20)
        return read[0]

    return path, taken


def is_fifo(path):
    return stat.S_ISFIFO(path.lstat().st_mode)


def run(*words, cwd, **more):
    command = [sys.executable, "-m", "lego_emit", "generate", "k.py:f", *words]
    (cwd / "k.py").write_text(KERNEL)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    return subprocess.run(command, cwd=cwd, env=environment, check=False, **more)


def test_a_fifo_stays_one_and_takes_the_text(fifo):
    path, taken = fifo
    assert write_if_changed(path, "text")
    assert taken() == b"text" and is_fifo(path)
    assert [*path.parent.iterdir()] == [path]


def test_a_link_to_a_fifo_is_written_through(fifo, tmp_path):
    path, taken = fifo
    link = tmp_path / "link.h"
    link.symlink_to(path.name)
    assert write_if_changed(link, "text")
    assert taken() == b"text" and is_fifo(path) and link.is_symlink()


def test_a_device_stays_one(tmp_path):
    before = os.stat(os.devnull)
    assert write_if_changed(os.devnull, "text") and write_if_changed(os.devnull, "text")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode) and os.stat(os.devnull).st_ino == before.st_ino
    with pytest.raises(LegoError, match="cannot write /dev/full: No space left on device"):
        write_if_changed("/dev/full", "text")


def test_a_failure_elsewhere_removes_no_fifo_and_writes_nothing_to_it(tmp_path):
    path = tmp_path / "pipe.h"
    os.mkfifo(path)
    (tmp_path / "folder").mkdir()
    with pytest.raises(LegoError, match="cannot write"):
        write_all({path: "text", tmp_path / "folder": "no file"})
    assert is_fifo(path)


def test_a_failing_stream_undoes_the_files_before_it(tmp_path):
    with pytest.raises(LegoError, match="cannot write /dev/full"):
        write_all({Path("/dev/full"): "text", tmp_path / "new" / "file": "text"})
    assert not (tmp_path / "new").exists() and Path("/dev/full").is_char_device()


def test_a_stream_has_no_declarations_beside_it(fifo):
    path, taken = fifo
    unit = generate(Row(4, 6), "javascript")
    assert [*unit.files(path)] == [path] and len(unit.files(path.with_name("a.mjs"))) == 2
    assert unit.save(path)
    assert taken().decode() == unit.source and [*path.parent.iterdir()] == [path]


@pytest.mark.slow
def test_the_command_line_writes_into_a_fifo(fifo):
    path, taken = fifo
    made = run("-t", "c", "-o", str(path), cwd=path.parent)
    assert made.returncode == 0 and b"f(" in taken() and is_fifo(path)


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="there is no /dev/stdout")
def test_standard_output_by_its_name_is_what_it_is_without_o(tmp_path):
    def text(made):
        return b"".join(x for x in made.splitlines(True) if b"-o " not in x)

    wanted = run("-t", "c", cwd=tmp_path, stdout=subprocess.PIPE).stdout
    piped = run("-t", "c", "-o", "/dev/stdout", cwd=tmp_path, capture_output=True)
    assert piped.returncode == 0, piped.stderr
    assert text(piped.stdout) == text(wanted)
    log = tmp_path / "log"
    log.write_bytes(b"before\n")
    with log.open("ab") as stream:
        inode = os.fstat(stream.fileno()).st_ino
        assert not run("-t", "c", "-o", "/dev/stdout", cwd=tmp_path, stdout=stream).returncode
    assert log.stat().st_ino == inode
    assert text(log.read_bytes()) == b"before\n" + text(wanted)
    pair = run("-t", "javascript", "-o", "/dev/stdout", cwd=tmp_path, capture_output=True)
    assert pair.returncode == 0 and b"export function f" in pair.stdout


@pytest.mark.parametrize("made", ["generate", "write_all"])
def test_links_in_a_circle_are_an_error(made, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("one").symlink_to("other")
    Path("other").symlink_to("one")
    if made == "generate":
        Path("layouts.py").write_text("from lego_emit import Row\nL = Row(4, 4)\n")
        found = CliRunner().invoke(main, ["generate", "layouts.py:L", "-t", "cpp", "-o", "one"])
        assert found.exit_code == 2 and "cannot write one: Too many levels" in found.output
    else:
        with pytest.raises(LegoError, match="cannot write one: Too many levels"):
            write_all({Path("one"): "text"})
    assert Path("one").is_symlink() and Path("other").is_symlink()
