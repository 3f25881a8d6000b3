"""Random tensor descriptors in Triton's interpreter, against tables of their layouts by the reference evaluator.

    python random_descriptors.py FIRST END

says how many kernels gave the same or were refused, and which gave something else."""

import importlib.util
import os
import random
import sys
import tempfile
import warnings
from pathlib import Path

os.environ["TRITON_INTERPRET"] = "1"  # before Triton is imported

import numpy as np

import lego_emit
from lego_emit.algebra import reference
from lego_emit.targets.triton import Tensor

HEAD = """import triton
import triton.language as tl

import lego_emit
from lego_emit import Col, ExpandBy, GroupBy, RegP, Row, Strided, TileBy


@lego_emit.jit
@triton.jit
def kernel(x, y, z, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, F: tl.constexpr):
"""
LAYOUTS = {
    kind.__name__: kind
    for kind in (
        *(lego_emit.Col, lego_emit.ExpandBy, lego_emit.GroupBy, lego_emit.RegP),
        *(lego_emit.Row, lego_emit.Strided, lego_emit.TileBy),
    )
}


def tiles(sizes, blocks, down, order):
    """(a layout of tiles as text, the sizes of its matrix, its dims)."""
    whole = [f"{d} * {b}" for d, b in zip(down, blocks, strict=True)]
    text = f"TileBy([{', '.join(down)}], [{', '.join(blocks)}])"
    if order != "":
        text += f".OrderBy({order}({', '.join(whole)}))"
    return text, whole, [*down, *blocks]


def layout_of(r, exact):
    """A layout as text, and its dims."""
    three = r.random() < 0.3
    names = ["K", "M", "N"][not three :]
    blocks = [f"B{n}" for n in names]
    down = [f"{n} // B{n}" if exact else f"down_{n}" for n in names]
    order = r.choice(["", "Row", "Col"])
    text, whole, dims = tiles(names, blocks, down, order)
    if not exact:
        if order == "Col":
            names, whole = names[::-1], whole[::-1]
        return f"ExpandBy([{', '.join(names)}], [{', '.join(whole)}], {text})", dims
    kind = r.randrange(6)
    if kind == 0:
        return f"Row({', '.join(names)})", names
    if kind == 1:
        return f"Col({', '.join(names)})", names
    if kind == 2:
        return "Strided((M, N), (N + 8, 1))", ["M", "N"]
    if kind == 3:
        return "Strided((K, M, N), (M * N + 4 * M, N + 4, 1))", ["K", "M", "N"]
    if kind == 4:
        at = [*down, *blocks]
        order = r.sample(range(len(down)), len(down))
        order += [len(down) + k for k in r.sample(range(len(down)), len(down))]
        return f"GroupBy([{', '.join(at)}]).OrderBy(RegP([{', '.join(at)}], {order}))", at
    return text, dims


def kernel_of(seed):
    """(the text of a kernel, the layouts in it as text, the parts of the index, the blocks' shape, the generator)."""
    r = random.Random(seed)
    exact = r.random() < 0.5
    text, dims = layout_of(r, exact)
    other = next((o for o in (layout_of(r, exact) for _ in range(20)) if o[1] == dims), None)
    blocks = {"BM", "BN", "BK"}
    parts, shape, free = [], [], []
    for k, n in enumerate(dims):
        if n in blocks and r.random() < 0.9:
            parts.append(":")
            shape.append(n)
        elif n in ("M", "N", "K") and r.random() < 0.8:
            parts.append(f":B{n}")
            shape.append(f"B{n}")
        else:
            parts.append(f"i{k}")
            free.append(k)
    if not shape:
        return kernel_of(seed + 10**6)
    lines = [] if exact else [f"down_{n} = tl.cdiv({n}, B{n})" for n in "MNK"]
    layouts = [text]
    names = [dims[k] for k in free]
    if free:
        left = ", ".join(f"i{k}" for k in free) + "," * (len(free) == 1)
        lines.append(f"{left} = Row({', '.join(names)}).inv(tl.program_id(0))")
    if other and r.random() < 0.4:
        layouts.append(other[0])
        way = r.randrange(3)
        if way == 0:
            lines += [f"A = {text} if F else {other[0]}"]
        elif way == 1:
            lines += ["if F:", f"    A = {text}", "else:", f"    A = {other[0]}"]
        else:
            lines += [f"P = {text}", f"Q = {other[0]}", "A = P if F else Q"]
    else:
        lines.append(f"A = {text}")
    lines.append("d = A.descriptor(x)")
    index = ", ".join(parts)
    if r.random() < 0.5:
        lines.append(f"block = d[{index}]")
    else:
        lines += ["block = tl.zeros((" + ", ".join(shape) + ("," * (len(shape) == 1)) + "), tl.int32)",
                  "for again in range(2):", f"    block = d[{index}] + 0 * block"]  # fmt: skip
    places = []
    for k, n in enumerate(shape):
        after = " * ".join(shape[k + 1 :]) or "1"
        cut = ", ".join(":" if j == k else "None" for j in range(len(shape)))
        places.append(f"tl.arange(0, {n})[{cut}] * ({after})")
    lines.append(
        f"tl.store(y + tl.program_id(0) * ({' * '.join(shape)}) + {' + '.join(places)}, block)"
    )
    lines.append(f"if {'F' if len(layouts) > 1 else 'True'}:")
    first = layouts[0]
    lines += [f"    E = {first}", "    e = E.descriptor(z)", f"    e[{index}] = block + 1"]
    return "\n".join("    " + line for line in lines), layouts, parts, shape, free, r


def numbers_of(text, sizes):
    """A layout's text with numbers."""
    space = {**sizes, **{f"down_{n}": -(-sizes[n] // sizes[f"B{n}"]) for n in "MNK"}}
    return eval(text, {**LAYOUTS, **space})


class RefusedError(Exception):
    """A kernel that is no descriptor's."""


def judged(seed, folder):
    """What is wrong with a kernel, or ""."""
    text, layouts, parts, shape, free, r = kernel_of(seed)
    file = Path(folder) / f"descriptors_{seed}.py"
    file.write_text(HEAD + text + "\n")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except lego_emit.errors.KernelError as error:
        raise RefusedError from error
    for _ in range(2):
        block = {f"B{n}": r.choice([4, 8]) for n in "MNK"}
        sizes = {n: block[f"B{n}"] * r.randint(1, 3) for n in "MNK"}
        if "ExpandBy" in layouts[0]:
            sizes = {n: max(4, sizes[n] - 4 * r.randrange(2)) for n in sizes}
        flag = r.randrange(2)
        given = {**sizes, **block}
        load = numbers_of(layouts[0 if flag or len(layouts) == 1 else 1], given)
        store = numbers_of(layouts[0], given)
        count = [load.dims[k] for k in free]
        programs = int(np.prod(count, dtype=int))
        cut = [given[n] for n in shape]
        x = np.arange(max(load.physical_size, 4), dtype=np.int32) * 7 % 1009 + 1
        z = np.full(max(store.physical_size, 4), -5, np.int32)
        y = np.full((programs, *cut), -7, np.int32)
        wanted, kept = y.copy(), z.copy()

        def table(layout):
            return np.broadcast_to(
                np.asarray(reference.apply(layout, [*np.indices(layout.dims)])), layout.dims
            )

        loads, stores = table(load), table(store)
        for program in range(programs):
            own = iter(np.unravel_index(program, count) if count else ())
            key, room = [], []
            for part, n in zip(parts, load.dims, strict=True):
                key.append(slice(None) if part[0] == ":" else int(next(own)))
                if part[0] == ":":
                    room.append(min(n, cut[len(room)]))
            inner = tuple(slice(0, n) for n in room)
            at = loads[tuple(key)][inner]
            found = np.zeros(cut, np.int32)
            found[inner] = np.where(at >= 0, x[np.maximum(at, 0)], 0)
            wanted[program] = found
            if flag or len(layouts) == 1:
                at = stores[tuple(key)][inner]
                kept[at[at >= 0]] = (found[inner] + 1)[at >= 0]
        try:
            module.kernel[(programs,)](Tensor(x), Tensor(y), Tensor(z), *given.values(), flag)
        except lego_emit.errors.AssumptionError as error:
            raise RefusedError from error
        for name, own, due in (("loads", y, wanted), ("stores", z, kept)):
            if not np.array_equal(own, due):
                return f"{name} {given} {flag}\n{own}\nnot\n{due}\n{module.kernel.lego.source}"
    return ""


def main(first, end):
    warnings.simplefilter("ignore")
    right = refused = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(int(first), int(end)):
            try:
                wrong = judged(seed, folder)
            except RefusedError:
                refused += 1
                continue
            except Exception as error:
                wrong = f"{type(error).__name__}: {error}\n{kernel_of(seed)[0]}"
            right += not wrong
            if wrong:
                print(f"seed {seed}: {wrong}")
    print("descriptors", right, "right", refused, "refused")


if __name__ == "__main__":
    main(*sys.argv[1:])
