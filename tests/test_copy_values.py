"""Copies that change elements on their way: what a value may be, and what languages make of it."""

import random
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from marks import rest_deep
from test_copies import verified

from lego_emit import Col, Row, Strided, TileBy, catalogue, copy, pack, symbols
from lego_emit.algebra.masked import Padded
from lego_emit.cli import main
from lego_emit.copies import value as values
from lego_emit.errors import InternalError, LegoError

M, N, C, H, W, LD = symbols("M N C H W LD")
LANGUAGES = ("c", "cpp", "rust", "fortran", "julia", "javascript", "numpy")


def mixed(v):
    return (((v * 3 + 1) >> 1) ^ (~v & 0x55)) | (v << 3)


def divided(v):
    return (5 - v) // 3 + (v - 7) % 10 - (-v >> 2)


TABLE = [(37 * k + 11) % 256 for k in range(256)]


def looked_up(v):
    """What no register computes."""
    return TABLE[v] if v > 9 else min(v, 3) - 2


# A copy, its options, and what is made of an element.
COPIES = {
    "turned": (Row(M, N), Col(M, N), {"element": 1}, mixed),
    "tiles": (TileBy([M // 8, N // 8], [8, 8]), Row(M // 8, N // 8, 8, 8), {}, divided),
    "padded": (Row(20, 7), Padded([20, 7], Strided(((4, 8), 8), ((8, 64), 1))), {"element": 2}, mixed),
    "curve": (Row(8, 8), catalogue["hilbert.2D"](8, 8), {"element": 4}, divided),
    "blocked": (Row(W, C, H, W), catalogue["onednn.nChw16c"](W, C, H, W), {}, mixed),
    "pitched": (Strided((M, N), (LD, 1)), Row(M, N), {"assume": ["LD >= N"], "element": 2}, divided),
    "records": (Row(M, N, 3), Row(M, N, 3), {"element": "uint8"}, lambda v: v ^ 0x88),
    "table": (Row(M, N), Col(M, N), {"element": 1}, looked_up),
    "table_of_runs": (Row(M), Row(M), {"element": 1}, looked_up),
    "short_runs": (Row(33, 40), catalogue["nvidia.BLOCK_LINEAR_2D"](33, 40), {}, lambda v: v ^ 1),
    "shared": (Row(64, 1024), Col(64, 1024), {"element": 2}, lambda v: v * v),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", rest_deep(COPIES, 1))
@pytest.mark.parametrize("target", LANGUAGES)
def test_values_are_verified(name, target):
    A, B, options, value = COPIES[name]
    found = verified(copy(A, B, target, name=name, value=value, **options))
    assert found, str(found)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["c", "numpy"])
def test_a_value_is_what_numpy_makes_of_it(target):
    given = np.arange(300, dtype=np.uint8)
    unit = copy(Row(M, N), Col(M, N), target, element=1, value=mixed)
    three, one = np.uint8(3), np.uint8(1)
    due = (((given * three + one) >> one) ^ (~given & np.uint8(0x55))) | (given << three)
    assert np.array_equal(unit.run(given, M=20, N=15), due.reshape(20, 15).T.reshape(-1))
    assert np.array_equal(unit.plan.run(given, {"M": 20, "N": 15}), unit.run(given, M=20, N=15))
    signed = copy(Row(M, N), Col(M, N), target, element="int8", value=lambda v: -v)
    assert np.array_equal(signed.run(given.view("i1"), M=300, N=1), -given.view("i1"))


@pytest.mark.slow
def test_padding_stays_zero():
    A, B, options, _ = COPIES["padded"]
    unit = copy(A, B, "c", value=lambda v: ~v, **options)
    found = unit.run(np.zeros(140, np.uint16), np.full(unit.plan.destination_size, 7, np.uint16))
    assert {n: (found == n).sum() for n in (0, 0xFFFF)} == {0: 8 * 32 - 140, 0xFFFF: 140}


@pytest.mark.slow
@pytest.mark.parametrize("target", ["c", "cpp"])
def test_threads_share_changed_elements(target):
    assert copy(*COPIES["turned"][:2], target, element=1, threads=True, value=mixed).verify()


@pytest.mark.slow
def test_a_faulty_text_is_not_verified():
    unit = pack(Row(4, 4, 8, 8), "c", of=(32, 32), element=1, value=lambda v: v ^ 0x88)
    at = unit.source.rindex("0x88")
    assert unit.verify()
    assert not replace(unit, source=f"{unit.source[:at]}0x89{unit.source[at + 4 :]}").verify()


def test_what_is_followed_is_compared_with_the_function(monkeypatch):
    monkeypatch.setattr(values._Element, "__xor__", values._Element.__or__)
    with pytest.raises(InternalError, match="nothing was emitted"):
        copy(Row(8), Row(8), "c", element=1, value=lambda v: v ^ 0x88)


def drawn(rng, depth, bits):
    """A function of an element at random."""
    if not depth or rng.random() < 0.15:
        number = rng.choice((0, 1, 2**bits - 1, 2 ** (bits - 1), rng.getrandbits(bits)))
        return (lambda v: v) if rng.random() < 0.7 else (lambda v: number)
    x, y = (drawn(rng, depth - 1, bits) for _ in range(2))
    by, of = rng.randrange(bits), rng.choice((1, 2, 3, 10, 2**bits - 1))
    return rng.choice((
        lambda v: x(v) + y(v), lambda v: x(v) - y(v), lambda v: x(v) * y(v), lambda v: x(v) & y(v),
        lambda v: x(v) | y(v), lambda v: x(v) ^ y(v), lambda v: ~x(v), lambda v: x(v) << by,
        lambda v: x(v) >> by, lambda v: x(v) // of, lambda v: x(v) % of,
    ))  # fmt: skip


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("target", LANGUAGES)
def test_functions_at_random(target, seed):
    rng = random.Random(f"{seed}")
    size = (1, 2, 4, 8)[seed % 4]
    inner = drawn(rng, 4, 8 * size)
    try:
        unit = copy(Row(M, N), Col(M, N), target, element=size, value=lambda v: inner(v) ^ (v + 1))
    except LegoError as error:
        assert target in ("fortran", "javascript") and size >= 4, error
        return
    found = verified(unit, {"M": 40, "N": 37})
    assert found, f"{found}\n{unit.source}"


@pytest.mark.deep
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("name", COPIES)
def test_compilers_warn_of_nothing(compiler, name, tmp_path):
    A, B, options, value = COPIES[name]
    for target, language in (("c", "c99"), ("cpp", "c++17")):
        unit = copy(A, B, target, name=name, value=value, **options)
        own = tmp_path / f"unit.{'c' if target == 'c' else 'cpp'}"
        T = f"std::uint{8 * unit.plan.element_bytes}_t"
        sizes = "std::int64_t, " * len(unit.plan.space.sizes)
        use = f"template void lego::{name}<{T}>({sizes}const {T}*, {T}*);\n"
        own.write_text(f"{unit.source}{use if target == 'cpp' else ''}")
        flags = ["-Wall", "-Wextra", "-Wconversion", "-Wsign-conversion", "-Werror"]
        command = [compiler, f"-std={language}", *flags, "-Wno-unused-function", "-c", own.name]
        subprocess.run(command, cwd=tmp_path, check=True)


def test_clippy_and_rustfmt_find_nothing(tmp_path, need):
    rustfmt = need("rustfmt", "rustup component add rustfmt")
    clippy = need("clippy-driver", "rustup component add clippy")
    texts = {}
    for name in ("turned", "tiles", "padded", "curve"):
        A, B, options, value = COPIES[name]
        texts[name] = copy(A, B, "rust", name=name, value=value, **options).source
        (tmp_path / f"{name}.rs").write_text(texts[name])
    modules = "".join(f"pub mod {name};\n" for name in sorted(texts))
    (tmp_path / "all.rs").write_text(f"#![no_std]\n\n{modules}")
    subprocess.run([rustfmt, "--edition", "2021", "all.rs"], cwd=tmp_path, check=True)
    assert texts == {name: (tmp_path / f"{name}.rs").read_text() for name in texts}
    lints = ["--crate-type=lib", "--emit=metadata", "-D", "warnings", "-W", "clippy::pedantic"]
    done = subprocess.run(
        [clippy, *lints, "--edition", "2021", "all.rs"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


LAYOUTS = """from lego_emit import Col, Row

rows, columns = Row(4, 6), Col(4, 6)


def changed(v):
    return v ^ 0x88
"""


def test_values_on_the_command_line_and_in_a_project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "layouts.py").write_text(LAYOUTS)
    command = [
        "copy",
        "layouts.py:rows",
        "layouts.py:columns",
        "-t",
        "c",
        "--element",
        "1",
        "--value",
    ]
    texts = []
    for text in ("v ^ 0x88", "layouts.py:changed"):
        done = CliRunner().invoke(main, [*command, text])
        assert done.exit_code == 0, done.output
        texts.append(done.output)
    assert texts[1].replace("layouts.py:changed", "'v ^ 0x88'") == texts[0]
    assert "return (uint8_t)(v ^ 0x88);" in texts[0]
    # No path of this machine, and no command where a file is standard input.
    done = CliRunner().invoke(main, [*command, str(tmp_path / "layouts.py:changed")])
    assert done.output == texts[1]
    done = CliRunner().invoke(main, [*command, "-:changed"], input=LAYOUTS)
    assert done.exit_code == 0 and "regenerate" not in done.output
    rows = [str(tmp_path / "layouts.py:columns"), "--of", str(tmp_path / "layouts.py:rows")]
    done = CliRunner().invoke(main, ["pack", *rows, "-t", "c"])
    assert "pack layouts.py:columns --target c --of layouts.py:rows\n" in done.output
    for text, said in (
        ("v ^", "value is 'v ^': no expression: invalid syntax"), ("v ^ K", "name 'K' is not defined"), ("v + 0.5", "no integer"),
        ("layouts.py:change", "Did you mean 'changed'?"), ("v, 1", "becomes an element of its own type"),
    ):  # fmt: skip
        done = CliRunner().invoke(main, [*command, text])
        assert done.exit_code and said in " ".join(done.output.split()), done.output
    (tmp_path / "lego-emit.toml").write_text("""
targets = ["c"]

[[copies]]
from = "layouts.py:rows"
to = "layouts.py:columns"
element = 1
value = "layouts.py:changed"

[[layouts]]
source = "layouts.py:columns"
pack = true
element = 1
value = "v + 3"
""")
    done = CliRunner().invoke(main, ["build"])
    assert done.exit_code == 0, done.output
    text = (tmp_path / "generated/c/rows_to_columns.h").read_text()
    assert "return (uint8_t)(v ^ 0x88);" in text
    assert "(uint8_t)(v + 3)" in (tmp_path / "generated/c/columns.h").read_text()
    assert CliRunner().invoke(main, ["build", "--check"]).exit_code == 0
    (tmp_path / "layouts.py").write_text(LAYOUTS.replace("0x88", "0x44"))
    assert CliRunner().invoke(main, ["build", "--check"]).exit_code == 1


WRONG = {
    "no integer; it is made of": lambda v: v + 0.5,
    "gives 0.5": lambda v: 0.5,
    "gives M, and": lambda v: M,
    "computes with M": lambda v: v + M,
    "asks something else": lambda v: v if v > 3 else 0,
    "one number for every element": lambda v: 7,
    "a shift by 40": lambda v: v << 40,
    "a quotient by 0": lambda v: v // 0,
    "divides by /; write // for integers": lambda v: v / 2,
    "asks something else of": lambda v: v**2,
    "value fails: TypeError": lambda: 7,
    "a shift by an element;": lambda v: v >> v,
    r"gives \[an element\], and": lambda v: [v],
    "gives a function, and": lambda v: lambda: v,
    "give a function, as": 7,
}


@pytest.mark.parametrize("said", WRONG)
def test_wrong_values_are_one_message(said):
    with pytest.raises(LegoError, match=said):
        copy(Row(8), Row(8), "c", value=WRONG[said])


@pytest.mark.parametrize(
    "element, value",
    [
        ("float32", lambda v: v * 2),
        (np.float64, lambda v: v ^ 2**63),
        ("complex64", lambda v: v + 1),
        ("datetime64[s]", lambda v: v + 1),
        (np.dtype("u4").newbyteorder(), lambda v: v + 1),
        (np.dtype([("x", "u2"), ("y", "u2")]), lambda v: v + 1),
        ("bool", lambda v: v + 1),
        ("int32", lambda v: v // 2),
        ("int16", lambda v: 1 - (v >> 3)),
        (np.dtype("i8"), lambda v: v % 5),
        ("int8", looked_up),
    ],
)
def test_a_type_of_other_arithmetic_takes_no_value(element, value):
    """A float would not be doubled, nor a signed integer be halved, nor bytes in another order carry."""
    with pytest.raises(LegoError) as error:
        copy(Row(8), Row(8), "c", element=element, value=value)
    bits = 8 * np.dtype(element).itemsize
    assert f"{np.dtype(element)} computes otherwise; give element='uint{bits}'" in str(error.value)
    assert copy(Row(8), Row(8), "c", element=bits // 8, value=value)


def test_signed_integers_wrap_as_unsigned_ones():
    unit = copy(Row(8), Row(8), "numpy", element="int16", value=lambda v: 3 * v - 1)
    given = np.arange(-4, 4, dtype=np.int16)
    assert np.array_equal(unit.run(given), 3 * given - 1)


def test_functions_of_bytes_are_tables():
    A, B, options, value = COPIES["table"]
    unit = copy(A, B, "c", name="table", value=value, **options)
    assert "table_values[256] = {\n  254, 255, 0, 1, 1," in str(unit) and "VECTORS" not in str(unit)
    given = np.arange(256, dtype=np.uint8)
    due = [int(value(int(v))) % 256 for v in given]
    assert unit.plan.run(given, {"M": 1, "N": 256}).tolist() == due
    with pytest.raises(LegoError, match="asks something else of the element"):
        copy(A, B, "c", value=value)
    for wrong, said in (
        (lambda v: 0.5 if v else 1, "asks something"),
        (lambda v: v / 2, "divides by /"),
    ):
        with pytest.raises(LegoError, match=said):
            copy(A, B, "c", element=1, value=wrong)


def test_elements_that_are_no_words_are_refused():
    for size in (3, 12, 16):
        with pytest.raises(LegoError, match=f"elements have {size} bytes"):
            copy(Row(8), Row(8), "c", element=size, value=lambda v: v)
    with pytest.raises(LegoError, match="JavaScript computes value on elements of up to 4 bytes"):
        copy(Row(8), Row(8), "javascript", element=8, value=lambda v: v ^ 1)
    with pytest.raises(LegoError, match="no form in Fortran for elements of 8 bytes"):
        copy(Row(8), Row(8), "fortran", element=8, value=lambda v: v + 1)
