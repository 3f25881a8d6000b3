"""Other libraries that move arrays, where this machine has them: PyTorch, oneDNN's reorder, and HPTT.

None of them is needed: a library that Python or the compiler does not find is said to be missing. What one gives is compared
with the copy before it is timed.
"""

from __future__ import annotations

import ctypes
import importlib.util
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

PEERS = ("torch", "oneDNN", "HPTT")
FOLDER = tempfile.TemporaryDirectory(prefix="copy_peers_")

ONEDNN = """
#include <dnnl.hpp>
#include <omp.h>
struct Reorder {{
  dnnl::engine engine{{dnnl::engine::kind::cpu, 0}};
  dnnl::stream stream{{engine}};
  dnnl::memory from, to;
  dnnl::reorder primitive;
  Reorder(void *src, void *dst)
      : from({{{dims}, dnnl::memory::data_type::{T}, dnnl::memory::format_tag::{a}}}, engine, src),
        to({{{dims}, dnnl::memory::data_type::{T}, dnnl::memory::format_tag::{b}}}, engine, dst),
        primitive(from, to) {{}}
}};
extern "C" void *peer_make(void *src, void *dst) {{ return new Reorder(src, dst); }}
extern "C" void peer_run(void *made, long rounds) {{
  auto &peer = *static_cast<Reorder *>(made);
  omp_set_num_threads(1);
  for (long k = 0; k < rounds; ++k) peer.primitive.execute(peer.stream, peer.from, peer.to);
  peer.stream.wait();
}}
"""
HPTT = """
#include <hptt.h>
using Plan = std::shared_ptr<hptt::Transpose<{T}>>;
extern "C" void *peer_make(void *src, void *dst) {{
  const int perm[] = {perm}, sizes[] = {sizes};
  return new Plan(hptt::create_plan(perm, {dim}, {T}(1), static_cast<const {T} *>(src), sizes, nullptr, {T}(0),
                                    static_cast<{T} *>(dst), nullptr, hptt::ESTIMATE, 1));
}}
extern "C" void peer_run(void *made, long rounds) {{
  for (long k = 0; k < rounds; ++k) (*static_cast<Plan *>(made))->execute();
}}
"""


@cache
def missing() -> tuple[str, ...]:
    """The libraries that this machine lacks."""
    found = {
        "torch": importlib.util.find_spec("torch") is not None,
        "oneDNN": _compiled("#include <dnnl.hpp>\n", ("-ldnnl",)) is not None,
        "HPTT": _compiled("#include <hptt.h>\n", ("-lhptt",)) is not None,
    }
    return tuple(name for name in PEERS if not found[name])


@cache
def _compiled(text: str, flags: tuple[str, ...]) -> ctypes.CDLL | None:
    """The shared library of a source file; None where it is not to be had."""
    stem = Path(FOLDER.name) / f"peer{len(list(Path(FOLDER.name).iterdir()))}"
    stem.with_suffix(".cpp").write_text(text)
    command = ["g++", "-std=c++17", "-O2", "-fopenmp", "-fPIC", "-shared", "-o", f"{stem}.so"]
    done = subprocess.run([*command, f"{stem}.cpp", *flags], capture_output=True)
    if done.returncode:
        return None
    try:
        return ctypes.CDLL(f"{stem}.so")
    except OSError:  # a library that it needs is missing
        return None


def _called(text: str, flags: tuple[str, ...], source: Any, destination: Any) -> Any:
    """What runs a library as often as it is told."""
    library = _compiled(text, flags)
    if library is None:
        return None
    library.peer_make.restype = ctypes.c_void_p
    given = (ctypes.c_void_p(a.ctypes.data) for a in (source, destination))
    made = ctypes.c_void_p(library.peer_make(*given))
    return lambda rounds: library.peer_run(made, ctypes.c_long(rounds))


def torch_copy(boxes: Sequence[Any], source: Any, destination: Any) -> Any:
    """copy_ of each box's strided views, by one thread; None where PyTorch has no integer of the size."""
    if "torch" in missing() or source.dtype.kind != "u":
        return None
    import torch

    torch.set_num_threads(1)
    signed = source.dtype.str.replace("u", "i")
    memories = [torch.from_numpy(m.view(signed)) for m in (destination, source)]
    views = [
        [
            torch.as_strided(
                m, [d.n for d in box.digits], [getattr(d, side) for d in box.digits], at
            )
            for m, side, at in ((memories[0], "b", box.b), (memories[1], "a", box.a))
        ]
        for box in boxes
    ]

    def copied(rounds: int) -> None:
        for _ in range(rounds):
            for to, of in views:
                to.copy_(of)

    return copied


def reorder(
    dims: Sequence[int], tags: tuple[str, str] | None, source: Any, destination: Any
) -> Any:
    """oneDNN's reorder between two of its formats; None where a case has none."""
    if tags is None or "oneDNN" in missing() or source.itemsize not in (1, 2, 4):
        return None
    T = {1: "s8", 2: "bf16", 4: "f32"}[source.itemsize]
    listed = "{" + ", ".join(map(str, dims)) + "}"
    text = ONEDNN.format(dims=listed, T=T, a=tags[0], b=tags[1])
    return _called(text, ("-ldnnl",), source, destination)


def transposed(boxes: Sequence[Any], source: Any, destination: Any) -> Any:
    """HPTT's plan of a permutation of dense arrays of 4 or 8 bytes; None where a copy is another one."""
    if "HPTT" in missing() or len(boxes) > 1 or source.itemsize not in (4, 8):
        return None
    digits = [d for d in boxes[0].digits if d.n > 1]
    orders = [sorted(digits, key=lambda d, side=side: getattr(d, side)) for side in "ab"]
    for side, order in zip("ab", orders, strict=True):
        dense = [prod(d.n for d in order[:k]) for k in range(len(order))]
        if [getattr(d, side) for d in order] != dense:
            return None
    perm = [orders[0].index(d) for d in orders[1]]
    lists = ("{" + ", ".join(map(str, own)) + "}" for own in (perm, [d.n for d in orders[0]]))
    T = {4: "float", 8: "double"}[source.itemsize]
    text = HPTT.format(T=T, dim=len(perm), **dict(zip(("perm", "sizes"), lists, strict=True)))
    return _called(text, ("-lhptt",), source, destination)


def is_right(peer: Callable[[int], None], wanted: Any, destination: Any) -> bool:
    """Whether a library writes what the copy does."""
    destination.view("u1")[:] = 0
    peer(1)
    return bool((destination.view("u1") == wanted.view("u1")).all())
