"""web/driver.py and web/arrays.py, which the page runs, in CPython: the blocks of the documentation without NumPy, and
each function of the part of NumPy that the page has beside NumPy's own."""

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent


def loaded(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


arrays = loaded(ROOT / "web" / "arrays.py")
hooks = loaded(ROOT / "docs" / "hooks.py")
OUTPUT = re.compile(r"\s*<!-- output -->\s*```\S*\n(.*?)^```", re.M | re.S)


def test_every_block_that_needs_nothing_else_runs_without_numpy(tmp_path):
    found = []
    for page in hooks.OPENED:
        text = (ROOT / "docs" / page).read_text()
        for end, block, needs in hooks.recipes(text, page):
            if not needs:
                output = OUTPUT.match(text, end)
                found.append((f"{page}: {block}", block, output[1] if output else ""))
    found += [(p.name, p.read_text(), "") for p in sorted((ROOT / "web/gallery").glob("*.py"))]
    done = subprocess.run(
        [sys.executable, ROOT / "tests" / "page_blocks.py"], cwd=tmp_path, text=True,
        input=json.dumps([block for _, block, _ in found]), capture_output=True, check=True,
    )  # fmt: skip
    assert len(found) > 50
    for (place, _, expected), said in zip(found, json.loads(done.stdout), strict=True):
        assert said["error"] is None, f"{place}\n{said['error']}"
        assert said["printed"].endswith(expected), f"{place}\n{said['printed']}"


def test_what_a_block_needs_is_said():
    text = (ROOT / "docs" / "tutorial.md").read_text()
    needs = {needs for _, _, needs in hooks.recipes(text, "tutorial.md")}
    assert needs == {"", "g++"}
    linked = hooks.with_links(text, "tutorial.md")
    assert linked.count("playground/index.html#") == 6
    assert "Needs g++, which the playground has not." in linked


SQUARE = [[5, 3, 9], [0, 3, 7]]
LINE = [4, 4, 0, 2, 9, 2]
CASES = """
a.T; a.reshape(-1); a.reshape(3, 2).tolist(); a.sum(); a.min(axis=0); a.max(axis=1); (a > 3).any(axis=0)
a.transpose(1, 0); a[1]; a[-1, 2]; a[:, 1]; a[::-1, ::2]; a[..., None].shape; a[None, :, 0]; a[a > 3]; a[[1, 0, 1]]
a[b % 2, b % 3]; a[:, b % 3]; a[0, b % 3]; a[b % 2][:, 0]; a[(a > 3).any(axis=1)]; a.astype(bool); a.astype(float)
a + b[:3]; a - 2; 2 - a; a * a; a // 2; -7 // (a + 1); -a % 4; a ** 2; a << 1; 64 >> a; a & 5; a | 8; a ^ 1; ~a; -a
a / 2; a == 3; a != b[:3]; (a > 3) & (a < 9); ~(a > 3); (a > 3) * a; (a > 3).sum(); abs(a - 4); a @ b[:3]; a.T @ a
len(a); [*b]; b.argmax(); (b == 2).nonzero(); a.flat[4]; a.squeeze().shape; a.ndim, a.size, a.shape, a.dtype.kind
np.arange(3, 9, 2); np.zeros((2, 2), bool); np.ones(3, np.int64); np.full(3, 7); np.array([]); np.array([True, 2])
np.array([[1, 2], [3, 4]], dtype=object); np.array(4)[..., None] + np.arange(3); np.linspace(0, 5, 4).tolist()
np.broadcast_to(b[:3], (2, 3)); np.broadcast_arrays(a, 1, b[:3]); np.broadcast_shapes((2, 1), (3,))
np.moveaxis(np.arange(24).reshape(2, 3, 4), 1, 0); np.stack([b, b + 1], axis=1); np.concatenate([b, b[:2]])
np.indices((2, 3)); np.ix_(b[:2], b[:3]); np.unravel_index(b, (3, 4)); np.ravel_multi_index((b % 2, b % 3), (2, 3))
np.unique(b); np.unique(b, return_inverse=True); np.unique(b, return_counts=True); np.unique(a[:, [0, 1, 0]], axis=1)
np.sort(b); np.argsort(a[0]); np.bincount(b); np.diff(b); np.diff(a, axis=0); np.flatnonzero(b > 2); np.argwhere(a > 3)
np.array_equal(a, a + 0), np.array_equal(a, b); np.minimum(a, 4); np.maximum(a, 4); np.where(a > 3, a, -1)
np.bitwise_or.reduce(b); np.logical_or.reduce([b > 2, b < 1]); np.bitwise_xor(a, 1); np.abs(a - 4); np.sqrt(a * a)
np.isnan(a / 1); np.isfinite(a / 1); np.frompyfunc(lambda x, y: x + y, 2, 1)(a, 1).tolist(); np.int64(3) + a
np.frompyfunc(divmod, 2, 2)(a, 2)[1].tolist(); b.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(40)
np.prod([2, 3, 4], dtype=object); np.asarray(a) is a; bool(a[:1, :1] == 5); int(np.array([3])[0]); range(9)[np.array(4)]
str(a); repr(a); str(b); str(np.arange(8).reshape(2, 2, 2)); repr(a > 3); str(a - 5)
"""


def alike(one, other):
    if isinstance(other, tuple | list) and not isinstance(one, np.ndarray):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, arrays.ndarray):
        other = np.asarray(other)
        kind = one.dtype.kind == other.dtype.kind
        return kind and one.shape == other.shape and one.tolist() == other.tolist()
    return one == other


@pytest.mark.parametrize("line", CASES.strip().splitlines())
def test_an_array_of_the_page_is_that_of_numpy(line):
    for code in line.split("; "):
        made, expected = (
            eval(code, {"np": module, "a": module.array(SQUARE), "b": module.array(LINE)})
            for module in (arrays, np)
        )
        assert alike(made, expected), f"{code}: {made} is not {expected}"


def test_an_element_is_written():
    for module in (arrays, np):
        a = module.array(SQUARE)
        a[0, 1:] = [7, 8]
        a[1] = 1
        assert a.tolist() == [[5, 7, 8], [1, 1, 1]]


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("np.array([[1], [2, 3]])", ValueError),
        ("a[5]", IndexError),
        ("a[0, 0, 0]", IndexError),
        ("a + b", ValueError),
        ("bool(a)", ValueError),
        ("a.reshape(4)", ValueError),
        ("np.array([2**64], dtype=np.int64)", OverflowError),
        ("np.nothing_like_that", AttributeError),
    ],
)
def test_what_goes_wrong_raises_as_in_numpy(code, error):
    for module in (arrays, np):
        with pytest.raises(error):
            eval(code, {"np": module, "a": module.array(SQUARE), "b": module.array(LINE)})
