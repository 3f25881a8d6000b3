"""What jit has made is kept on disk by all that it follows from: the same in another run, and never another's."""

import json
import os
import subprocess
import sys

import pytest

from lego_emit import Col, GenP, GroupBy, Lookup, Row, TileBy, catalogue, jit, symbols
from lego_emit.errors import KernelError
from lego_emit.inside import kept
from lego_emit.kernels.names import Names

WIDTH, SIZED = 3, Row(2, 2)


@pytest.fixture
def lowered(tmp_path, monkeypatch):
    """What is lowered, and not taken from the disk: the texts of the values."""
    found = []
    made = Names._lowered

    def noted(self, values, *more):
        found.extend(value.said for value in values.values())
        return made(self, values, *more)

    monkeypatch.setattr(Names, "_lowered", noted)
    monkeypatch.setenv("LEGO_EMIT_CACHE", str(tmp_path))
    return found


def of_layout(layout):
    L = layout

    @jit(target="python")
    def at(i, j):
        return L[i, j], L[j, i], L.size

    return at


@pytest.mark.slow
def test_a_second_time_nothing_is_lowered(lowered):
    def tiles(M, N, p, i, a, b):
        T = TileBy([M // 4, N // 4], [4, 4]).OrderBy(Row(M, N))
        q, r, s, t = T.inv(p)
        return (
            T[q, r, i, (a + b) % 4],
            T.in_bounds(q, r, i, i),
            s,
            t,
        )

    first = jit(tiles, target="python", ranges={"i": (0, 4)})
    assert lowered
    lowered.clear()
    again = jit(tiles, target="python", ranges={"i": (0, 4)})
    assert (
        lowered == []
        and again.lego == first.lego
        and again(8, 8, 9, 1, 2, 3) == first(8, 8, 9, 1, 2, 3)
    )
    jit(tiles, target="python", ranges={"i": (0, 3)})
    assert lowered
    lowered.clear()
    jit(tiles, target="python", assume=["M > 8"])
    assert lowered


def test_a_kernel_of_another_text_lowers_what_is_new(lowered, tmp_path):
    """What a kernel computes is kept by itself, too, so that a change of a line costs what is in that line."""
    text = "def at(i, j):\n    p = L[i, j]\n    return p, L[j, 1]\n"
    for own, wanted in (
        (text, ["L[i, j]", "L[j, 1]"]),
        (text.replace("1]", "2]  # now"), ["L[j, 2]"]),
    ):
        (path := tmp_path / "own.py").write_text(own)
        exec(compile(own, path, "exec"), space := {"L": Row(7, 7)})
        lowered.clear()
        jit(space["at"], target="python")
        assert sorted({*lowered}) == wanted


def xor(i, j):
    return 4 * i + (i ^ j)


def back(p):
    return p // 4, p % 4 ^ p // 4


def shifted(i, j):
    return 4 * i + (j + WIDTH) % 4


def shifted_back(p):
    return p // 4, (p - WIDTH) % 4


def closed(by):
    return GenP([4, 4], lambda i, j: 4 * i + (j + by) % 4, lambda p: (p // 4, (p - by) % 4))


def defaulted(by):
    return GenP(
        [4, 4], lambda i, j, b=by: 4 * i + (j + b) % 4, lambda p, b=by: (p // 4, (p - b) % 4)
    )


LAYOUTS = [
    lambda: Row(4, 4),
    lambda: Col(4, 4),
    lambda: GroupBy([4, 4]).OrderBy(Col(4, 4)),
    lambda: GenP([4, 4], xor, back),
    lambda: GenP([4, 4], shifted, shifted_back),
    lambda: GenP([4, 4], lambda i, j: 4 * i + j, lambda p: (p // 4, p % 4)),
    lambda: GenP([4, 4], lambda i, j: 4 * j + i, lambda p: (p % 4, p // 4)),
    lambda: closed(1),
    lambda: closed(2),
    lambda: defaulted(1),
    lambda: defaulted(2),
    lambda: catalogue["morton.2D"](4, 4),
    lambda: catalogue["hilbert.2D"](4, 4),
    lambda: Lookup((4, 4), [*range(15, -1, -1)]),
    lambda: Lookup((4, 4), [*range(14, -1, -1), 15]),
]  # fmt: skip


@pytest.mark.slow
def test_layouts_of_one_name_are_not_taken_for_one_another(lowered):
    """Twice, so that the second round takes what the first has left."""
    for _ in range(2):
        for make in LAYOUTS:
            layout, at = make(), of_layout(make())
            for i in range(4):
                for j in range(4):
                    assert at(i, j) == (layout[i, j], layout[j, i], 16)


def test_what_a_function_reads_is_part_of_it(lowered, monkeypatch):
    for width in (3, 2, 3):
        monkeypatch.setattr(sys.modules[__name__], "WIDTH", width)
        assert of_layout(GenP([4, 4], shifted, shifted_back))(1, 2) == (
            4 + (2 + width) % 4,
            8 + (1 + width) % 4,
            16,
        )


@pytest.mark.parametrize("read", [
    lambda i, j: 4 * i + (j + json.loads("1")) % 4,
    lambda i, j: 4 * i + (j + int(os.environ.get("WIDTH", "1"))) % 4,
    lambda i, j: 4 * i + (j + __import__("json").loads("1")) % 4,
    lambda i, j: 4 * i + (j + eval("1")) % 4,
    lambda i, j: 4 * i + (j + MADE.width) % 4,
])  # fmt: skip
def test_what_reads_anything_else_is_made_each_time(lowered, read):
    for _ in range(2):
        lowered.clear()
        at = of_layout(GenP([4, 4], read, lambda p: (p // 4, (p % 4 - 1) % 4)))
        assert "L[i, j]" in lowered and at(0, 3) == (0, 13, 16)


class MADE:
    width = 1


def test_names_and_texts_are_part_of_it(lowered):
    def one(i, j):
        L = Row(100, 64)
        return L[i // 2, j % 64], L[j % 64, i // 2]

    def other(i, j):
        L = Row(100, 64)
        return L[j % 64, i // 2], L[i // 2, j % 64]

    for function in (one, other, one):
        made = jit(function, target="python", checks="off")
        for i, j in ((3, 70), (9, 5)):
            assert made(i, j) == function(i, j)


def test_sizes_are_part_of_it(lowered, monkeypatch):
    for sizes in ("M N", "N M", "M N"):
        monkeypatch.setattr(sys.modules[__name__], "SIZED", Row(*symbols(sizes)))

        @jit(target="python")
        def at(M, N, i, j):
            return SIZED[i, j]

        assert at(8, 100, 3, 5) == 3 * (100 if sizes == "M N" else 8) + 5


def test_a_file_that_is_broken_is_made_again(lowered, tmp_path):
    first = of_layout(Col(4, 6))
    files = [*tmp_path.rglob("lowered/*")]
    assert files
    for content in (b"", b"x" * 100, files[0].read_bytes()[:-1]):
        for file in files:
            file.write_bytes(content)
        lowered.clear()
        assert of_layout(Col(4, 6)).lego == first.lego and lowered
    good = {file: file.read_bytes() for file in files}
    lowered.clear()
    of_layout(Col(4, 6))
    assert lowered == [] and good == {file: file.read_bytes() for file in files}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs")
def test_a_fifo_is_not_waited_for(lowered, tmp_path):
    first = of_layout(Col(4, 6))
    for file in tmp_path.rglob("lowered/*"):
        file.unlink()
        os.mkfifo(file)
    lowered.clear()
    assert of_layout(Col(4, 6)).lego == first.lego and lowered
    (text,) = tmp_path.rglob("*.py")
    text.unlink()
    os.mkfifo(text)
    with pytest.raises(KernelError, match="is no file"):
        of_layout(Col(4, 6))


def test_another_version_has_its_own(lowered, monkeypatch):
    of_layout(Col(4, 6))
    lowered.clear()
    monkeypatch.setattr(kept, "_version", lambda: "another")
    of_layout(Col(4, 6))
    assert lowered


@pytest.mark.skipif(os.name == "nt", reason="folders have no modes")
def test_a_folder_that_others_write_is_not_read(lowered, tmp_path):
    of_layout(Col(4, 6))
    (folder,) = tmp_path.rglob("lowered")
    folder.chmod(0o777)
    lowered.clear()
    of_layout(Col(4, 6))
    assert lowered


@pytest.mark.skipif(os.name == "nt", reason="folders have no modes")
def test_a_group_that_writes_by_default_does_not_write_there(lowered):
    before = os.umask(0o002)
    try:
        of_layout(Col(4, 6))
        lowered.clear()
        of_layout(Col(4, 6))
    finally:
        os.umask(before)
    assert lowered == []


KERNEL = """
from lego_emit import TileBy, Col, catalogue, jit
@jit(target="python")
def at(M, N, p):
    L = TileBy([M // 8, N // 8], [8, 8]).OrderBy(Col(M, N))
    return L.inv(p), catalogue["hilbert.2D"](8, 8)[p % 8, 1]
print(at(16, 24, 77), at.lego)
"""


@pytest.mark.slow
def test_another_process_reads_the_same(tmp_path):
    (file := tmp_path / "own.py").write_text(KERNEL)
    told = [
        subprocess.run(
            [sys.executable, file], capture_output=True, text=True, check=True,
            env={**os.environ, "LEGO_EMIT_CACHE": str(tmp_path), "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    ]  # fmt: skip
    files = [*tmp_path.rglob("lowered/*")]
    assert told[0] == told[1] and 0 < len(files) <= 6
