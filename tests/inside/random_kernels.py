"""Random kernels with layouts: by lego_emit.jit, and as they stand on layouts by their definitions (defined.py).

    python random_kernels.py triton|cutile|numba|cuda|python FIRST END [--gpu]

says how many kernels gave the same, and which did not; with --gpu Triton's are compiled, and run on a GPU."""

import importlib.util
import os
import random
import re
import sys
import tempfile
import types
import warnings
from pathlib import Path

os.environ["TRITON_INTERPRET"] = os.environ["NUMBA_ENABLE_CUDASIM"] = (
    "0" if "--gpu" in sys.argv else "1"  # before these are imported
)

import defined
import numpy as np

import lego_emit

ON_GPU = "--gpu" in sys.argv
ROOM = 4096  # elements that a value of a block kernel may have
SLOTS = 32  # values that a kernel gives
SWIZZLE = "GroupBy([8, 8]).OrderBy(GenP([8, 8], lambda i, j: 8 * i + (i ^ j), lambda p: (p // 8, p % 8 ^ p // 8)))"
SKEWED = "GroupBy([M, N]).OrderBy(GenP([M, N], lambda i, j: N * i + (i + j) % N, lambda p: (p // N, (p % N - p // N) % N)))"


class Writer:
    """What both kinds of kernels have: names that are at least 0, and names that are indices of an axis."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines, self.depth, self.count, self.slot = [], 1, 0, 0
        self.numbers, self.axes, self.layouts = [], {}, []

    def chance(self, part):
        return self.random.random() < part

    def write(self, text):
        self.lines.append("    " * self.depth + text)

    def fresh(self, stem):
        self.count += 1
        return f"{stem}{self.count}"

    def natural(self, depth=0):
        if depth < 2 and self.chance(0.5):
            form = self.random.choice(
                ["{} + {}", "{} * 3 + {}", "({} + 1) // 2 + {}", "({} + {}) % 5"]
            )
            return f"({form.format(self.natural(depth + 1), self.natural(depth + 1))})"
        return self.random.choice(["0", "1", "4", *self.numbers, *self.numbers, *self.numbers])

    def any_number(self):
        """Of a name, as jit refuses what is a negative number at once."""
        name = self.random.choice(self.numbers)
        return self.random.choice([self.natural(), f"({self.natural()} - {name})", f"({name} - 2)"])

    def index(self, size):
        """An index of an axis, in one of many ways."""
        known = [name for name, of in self.axes.items() if of == size]
        forms = [
            f"{self.natural()} % ({size})",
            "0",
            f"{size} - 1",
            f"{self.least}({self.natural()}, {size} - 1)",
        ]
        forms += [*known * 4, *(f"{size} - 1 - {name}" for name in known)]
        return self.random.choice(forms)

    def body(self, head, statements):
        """An inner block, whose names end with it."""
        known = [*self.numbers], {**self.axes}
        self.write(head)
        self.depth += 1
        statements()
        self.write("pass")
        self.depth -= 1
        self.numbers, self.axes = known

    def layout(self, name):
        text, dims, whole, invertible = self.kind()
        if self.chance(0.25):
            others = (self.kind() for _ in range(20))
            other = next((o for o in others if o[1:3] == (dims, whole)), None)
            if other:
                invertible &= other[3]
                if self.chance(0.5):
                    text = f"{text} if F else {other[0]}"
                else:
                    self.write("if not F:")
                    self.write(f"    {name} = {other[0]}")
                    self.write("else:")
                    self.write(f"    {name} = {text}")
                    text = ""
        if text:
            self.write(f"{name} = {text}")
        self.layouts.append((name, dims, whole, invertible))

    def branches(self, conditions):
        self.body(f"if {self.random.choice(conditions)}:", self.statement)
        if self.chance(0.5):
            self.body("else:", self.statement)

    def inverse(self, name, dims, position):
        """Names for the index of a position, which may be none."""
        names = [self.fresh("i") for _ in dims]
        at = self.fresh("at")
        self.write(f"{at} = {position}")
        self.write(f"{', '.join(names)}{',' * (len(names) == 1)} = {name}.inv({at})")
        return names


class Scalars(Writer):
    """A kernel of numbers, a round or a thread for each t."""

    least = "min"

    def __init__(self, seed, form):
        super().__init__(seed)
        self.numbers = ["t", "K"]
        if form == "cuda":
            self.write("t = cuda.grid(1)")
        else:
            self.write("for t in range(6):")
            self.depth += 1
        for name in "ABC"[: self.random.randrange(1, 4)]:
            self.layout(name)
        for _ in range(self.random.randrange(3, 7)):
            self.statement()

    def kind(self):
        """A layout as text, its dims, whether each index has a position, whether jit is asked for inv."""
        down, across = "(M + 2) // 3", "(N + 1) // 2"
        rounded = f"ExpandBy([M, N], [{down} * 3, {across} * 2], TileBy([{down}, {across}], [3, 2])"
        return self.random.choice([
            ("Row(M, N)", ["M", "N"], True, True),
            ("Col(M, N)", ["M", "N"], True, True),
            (SKEWED, ["M", "N"], True, True),
            ('catalogue["triton.grouped"](M, N, K)', ["M", "N"], True, False),
            ("Strided((M, N), (N + 3, 1))", ["M", "N"], True, False),
            ("Strided((M, N), (1, M + 1))", ["M", "N"], True, False),
            (SWIZZLE, ["8", "8"], True, True),
            ('catalogue["morton.2D"](8, 8)', ["8", "8"], True, True),
            ("Row(M)", ["M"], True, True),
            ("Col(M, N, K)", ["M", "N", "K"], True, True),
            ("TileBy([M, N], [K, 2]).OrderBy(Col(M * K, N * 2))", ["M", "N", "K", "2"], True, True),
            ("TileBy([2, M], [2, N], [K, 3]).OrderBy(Row(4 * K, 3 * M * N))", ["2", "M", "2", "N", "K", "3"], True, True),
            (f"{rounded})", [down, across, "3", "2"], False, False),
            (f'{rounded}, guard="logical")', [down, across, "3", "2"], False, False),
        ])  # fmt: skip

    def give(self, text):
        self.write(f"out[t * {SLOTS} + {self.slot}] = {text}")
        self.slot += 1

    def statement(self):
        name, dims, _whole, invertible = self.random.choice(self.layouts)
        at = f"{name}[{', '.join(map(self.index, dims))}]"
        asked = [self.index(n) if self.chance(0.4) else self.any_number() for n in dims]
        inside = f"{name}.in_bounds({', '.join(asked)})"
        what = self.random.random()
        if what < 0.25:
            self.give(
                self.random.choice(["{}", "2 * {} + 1", "{} - t", "-{}", "{} // 2"]).format(at)
            )
        elif what < 0.45:
            self.give(f"1 if {inside} else 0")
        elif what < 0.55 and invertible:
            names = self.inverse(name, dims, self.random.choice(["t * 7 - 2", "t * 3", "t - 1"]))
            self.give(f"1 if {name}.in_bounds({', '.join(names)}) else 0")
        elif what < 0.65 and invertible:
            self.write(f"count = {name}.size")
            names = self.inverse(name, dims, f"({self.natural()}) % count")
            self.numbers += names
            self.axes.update(zip(names, dims, strict=True))
            for one in names:
                self.give(one)
        elif what < 0.8 and self.depth < 4:
            counter, total, axis = (
                self.fresh("k"),
                self.fresh("total"),
                self.random.randrange(len(dims)),
            )
            end = self.random.choice([dims[axis], f"{name}.dims[{axis}]"])
            self.write(f"{total} = 0")

            def once():
                self.numbers.append(counter)
                self.axes[counter] = dims[axis]
                self.write(f"{total} += {name}[{', '.join(map(self.index, dims))}] % 97")
                self.write(f"if {name}.in_bounds({', '.join(self.any_number() for _ in dims)}):")
                self.write(f"    {total} += 1000")

            self.body(f"for {counter} in range({end}):", once)
            self.give(total)
        elif what < 0.92 and self.depth < 4:
            self.branches(["F", "not F", "t > 2", "M > 4"])
        else:
            self.give(f"{name}.dims[{len(dims) - 1}]")


class Blocks(Writer):
    """A kernel of Triton's: a program for each tile of a matrix, blocks along the axes whose size is a constant."""

    least = "tl.minimum"
    stores = "tl.store(out + {at}, {text})"
    loads = (
        "tl.load(x + {at}, mask={inside}, other=-5)",
        "tl.load(x + {at}, {inside}, 0) + 7",
        "tl.load({at} + x, mask={inside} & (p > 0), other=3)",
        "tl.load(x + (2 * {at} - {at}), mask={inside}, other=0)",
    )

    def __init__(self, seed):
        super().__init__(seed)
        self.exact = self.chance(0.5)  # whether the tiles divide the matrix
        self.down, self.across = ("M // BM", "N // BN") if self.exact else ("down", "across")
        self.write("pid = tl.program_id(0)")
        if not self.exact:
            self.write("down, across = tl.cdiv(M, BM), tl.cdiv(N, BN)")
        order = self.random.choice(["Row({})", "Col({})", 'catalogue["triton.grouped"]({}, 2)'])
        self.write(f"p, q = {order.format(f'{self.down}, {self.across}')}.inv(pid)")
        self.numbers, self.axes = ["pid", "p", "q"], {"p": self.down, "q": self.across}
        self.layouts.append(("A", *self.tiles()))
        self.write(f"A = {self.text}")
        for name in "BC"[: self.random.randrange(3)]:
            self.layout(name)
        for _ in range(self.random.randrange(3, 7)):
            self.statement()

    def tiles(self):
        dims, tiles = (
            [self.down, self.across, "BM", "BN"],
            f"TileBy([{self.down}, {self.across}], [BM, BN])",
        )
        rows, columns = f"{self.down} * BM", f"{self.across} * BN"
        if self.exact:
            self.text = tiles + self.random.choice(
                ["", ".OrderBy(Row(M, N))", ".OrderBy(Col(M, N))"]
            )
            return dims, True, True
        self.text = self.random.choice([
            f"ExpandBy([M, N], [{rows}, {columns}], {tiles})",
            f'ExpandBy([M, N], [{rows}, {columns}], {tiles}, guard="logical")',
            f"ExpandBy([N, M], [{columns}, {rows}], {tiles}.OrderBy(Col({rows}, {columns})))",
        ])  # fmt: skip
        return dims, False, False

    def kind(self):
        if self.chance(0.3):
            dims, whole, invertible = self.tiles()
            return self.text, dims, whole, invertible
        return self.random.choice([
            ("Row(M, N)", ["M", "N"], True, True),
            ("Col(M, N)", ["M", "N"], True, True),
            ("Strided((M, N), (N + 3, 1))", ["M", "N"], True, False),
            ("Row(M, BN)", ["M", "BN"], True, True),
            ("Col(BM, N, K)", ["BM", "N", "K"], True, True),
            (SWIZZLE, ["8", "8"], True, True),
            ('catalogue["morton.2D"](8, 8)', ["8", "8"], True, True),
        ])  # fmt: skip

    def give(self, text, shape):
        at = f"(pid * {SLOTS} + {self.slot}) * {ROOM}"
        if len(shape) == 1:
            at += f" + tl.arange(0, {shape[0]})"
        if len(shape) == 2:
            at += f" + tl.arange(0, {shape[0]})[:, None] * 64 + tl.arange(0, {shape[1]})[None, :]"
        self.write(self.stores.format(at=at, text=text))
        self.slot += 1

    def parts(self, dims, index):
        """An index with a ':' along some axes, or an array of the kernel's own, and the shape of what it gives."""
        parts, shape = [], []
        for n in dims:
            if len(shape) < 2 and self.chance(0.15):
                rows = self.fresh("rows")
                start = self.random.choice(
                    [f"({{}} + pid) % ({n})", "{} * 2 - 1 + pid"][: 1 + (index is not self.index)]
                )
                self.write(f"{rows} = {start.format('tl.arange(0, 4)')}")
                parts.append(f"{rows}[:]")
                shape.append("4")
            elif len(shape) < 2 and n in ("BM", "BN", "K", "8") and self.chance(0.7):
                parts.append(":")
                shape.append(n)
            else:
                parts.append(index(n))
        return ", ".join(parts), shape

    def statement(self):
        name, dims, whole, invertible = self.random.choice(self.layouts)
        what = self.random.random()
        if what < 0.25:
            parts, shape = self.parts(dims, self.index)
            self.give(f"{name}[{parts}]" if not whole else f"2 * {name}[{parts}] - pid", shape)
        elif what < 0.6:
            parts, shape = self.parts(
                dims, lambda n: self.index(n) if self.chance(0.6) else self.any_number()
            )
            inside = f"{name}.in_bounds({spelled(parts)})"
            if what < 0.4:
                self.give(f"tl.where({inside}, 1, 0)", shape)
                return
            if self.chance(0.5):
                mask = self.fresh("mask")
                self.write(f"{mask} = {inside} & (pid >= 0)")
                inside = mask
            form = self.random.choice(self.loads)
            self.give(form.format(at=f"{name}[{parts}]", inside=inside), shape)
        elif what < 0.7 and invertible:
            start = self.random.choice(["pid * 4 + tl.arange(0, 4)", "tl.arange(0, 4) * 3 - 2"])
            names = ", ".join(self.inverse(name, dims, start))
            inside = f"{name}.in_bounds({names})"
            self.give(f"tl.where({inside}, 1, 0)", ["4"])
            self.give(self.loads[0].format(at=f"{name}[{names}]", inside=inside), ["4"])
        elif what < 0.8 and self.depth < 3:
            counter, total, axis = (
                self.fresh("k"),
                self.fresh("total"),
                self.random.randrange(len(dims)),
            )
            self.write(f"{total} = pid * 0")

            def once():
                self.numbers.append(counter)
                self.axes[counter] = dims[axis]
                parts = ", ".join(map(self.index, dims))
                self.write(f"{total} += tl.where({name}.in_bounds({parts}), {name}[{parts}], 5)")
                if self.chance(0.3):
                    self.write(f"q = (q + {counter}) % ({self.across})")

            self.body(f"for {counter} in range({name}.dims[{axis}]):", once)
            self.give(total, [])
        elif what < 0.92 and self.depth < 3:
            self.branches(["F", "not F", "p > 0", "F and K > 2"])
        else:
            self.give(f"{name}.dims[0]", [])


class Tiles(Blocks):
    """The same in cuTile."""

    least = "ct.minimum"
    stores = "ct.scatter(out, {at}, {text})"
    loads = (
        "ct.gather(x, {at}, mask={inside}, padding_value=-5)",
        "ct.gather(x, {at}, mask={inside}) + 7",
        "ct.gather(x, {at}, mask={inside} & (p > 0), padding_value=3)",
        "ct.gather(x, 2 * {at} - {at}, mask={inside})",
    )

    def write(self, text):
        text = re.sub(r"tl.arange\(0, (\w+)\)", r"ct.arange(\1, dtype=ct.int32)", text)
        super().write(text.replace("tl.program_id", "ct.bid").replace("tl.", "ct."))


def spelled(parts):
    """Parts of an index as a call takes them."""
    return ", ".join('":"' if part == ":" else part for part in parts.split(", "))


BLOCKS = {"triton": Blocks, "cutile": Tiles}
FORMS = {
    "triton": ("@triton.jit", "x, out, M, N, BM: tl.constexpr, BN: tl.constexpr, F: tl.constexpr, K: tl.constexpr"),
    "cutile": ("@ct.kernel", "x, out, M, N, BM: ConstInt, BN: ConstInt, F: ConstInt, K: ConstInt"),
    "numba": ("@numba.njit", "x, out, M, N, F, K"),
    "cuda": ("@cuda.jit", "x, out, M, N, F, K"),
    "python": ("", "x, out, M, N, F, K"),
}  # fmt: skip
IMPORTS = {
    "triton": "import triton\nimport triton.language as tl\n",
    "cutile": "import cuda.tile as ct\nConstInt = ct.Constant[int]\n",
    "numba": "import numba\n",
    "cuda": "from numba import cuda\n",
    "python": "",
}


def kernel_of(form, seed):
    """(a random kernel's text, its writer)."""
    writer = BLOCKS[form](seed) if form in BLOCKS else Scalars(seed, form)
    return f"def kernel({FORMS[form][1]}):\n" + "\n".join(writer.lines) + "\n", writer


def sizes_of(form, writer):
    """Arguments of a launch, and how many programs or threads it has."""
    r = writer.random
    if form not in BLOCKS:
        return (r.randrange(1, 9), r.randrange(1, 9), bool(r.randrange(2)), r.randrange(1, 5)), 6
    down, across, bm, bn = (
        r.randrange(1, 4),
        r.randrange(1, 4),
        r.choice([1, 2, 4, 8]),
        r.choice([2, 4, 8]),
    )
    less = (0, 0) if writer.exact else (r.randrange(bm), r.randrange(bn))
    sizes = down * bm - less[0], across * bn - less[1]
    return (*sizes, bm, bn, r.randrange(2), r.choice([2, 4])), down * across


def by_definition(form, text, x, out, arguments, programs):
    once = form in ("python", "numba")
    for program in range(1 if once else programs):
        cuda = types.SimpleNamespace(grid=lambda axis, program=program: program)
        space = {**defined.LAYOUTS, "tl": defined.language(program), "cuda": cuda}
        space |= {"ct": defined.tiles(program), "ConstInt": int}
        exec(text, space)
        pointers = map(defined.Pointer, (x, out)) if form == "triton" else (x, out)
        space["kernel"](*pointers, *arguments)


def launch(form, kernel, x, out, arguments, programs):
    if form == "triton" and ON_GPU:
        import torch

        given, found = (torch.from_numpy(a).cuda() for a in (x, out))
        kernel[(programs,)](given, found, *arguments)
        out[:] = found.cpu().numpy()
    elif form == "triton":
        from lego_emit.targets.triton import Tensor

        kernel[(programs,)](Tensor(x), Tensor(out), *arguments)
    elif form == "cutile":
        for program in range(programs):
            space = {"ct": defined.tiles(program), "ConstInt": int}
            exec(kernel.lego.source, space)
            space["kernel"](x, out, *arguments)
    elif form == "cuda":
        kernel[2, 3](x, out, *arguments)
    else:
        kernel(x, out, *arguments)


def mended():
    """Triton 3.9's interpreter spreads the truth of a scalar comparison as an int32, which no load takes as a mask."""
    import triton.runtime.interpreter as interpreter

    spread = interpreter.InterpreterBuilder.create_splat

    def create_splat(self, kind, value):
        made = spread(self, kind, value)
        if value.data.dtype == np.bool_:
            made.data = made.data.astype(np.bool_)
        return made

    interpreter.InterpreterBuilder.create_splat = create_splat


def judged(form, seed, folder):
    """What is wrong with a kernel, or ""."""
    text, writer = kernel_of(form, seed)
    decorator = "@lego_emit.jit(target='python')" if form == "python" else "@lego_emit.jit"
    file = Path(folder) / f"kernel_{seed}.py"
    imports = "import lego_emit\nfrom lego_emit import Col, ExpandBy, GenP, GroupBy, Row, Strided, TileBy, catalogue\n"
    above = f"{imports}{IMPORTS[form]}\n{decorator}\n{FORMS[form][0]}\n"
    file.write_text(above + text)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except lego_emit.errors.KernelError as error:
        line = int(re.search(r"line (\d+)", str(error))[1]) - above.count("\n")
        never = "never in" in str(error) or "contradicts what is known" in str(error)
        if never and not may_hold(form, text, writer, line):
            return ""  # a condition that never holds is refused
        raise
    x = np.arange(1 << 14, dtype=np.int32) * 7 % 1009
    for _ in range(3):
        arguments, programs = sizes_of(form, writer)
        out = np.full(programs * SLOTS * (ROOM if form in BLOCKS else 1), -77, np.int32)
        wanted = out.copy()
        by_definition(form, text, x, wanted, arguments, programs)
        launch(form, module.kernel, x, out, arguments, programs)
        if (wrong := np.flatnonzero((out != wanted) & (wanted > defined.NONE // 2))).size:
            at = int(wrong[0])
            return f"{arguments}: {out[at]} at {at}, not {wanted[at]}\n{file.read_text()}\n{module.kernel.lego.source}"
    return ""


def may_hold(form, text, writer, line):
    """Whether each in_bounds in a line of a kernel, and of what the line names, is true for any of some sizes."""
    lines = text.splitlines()
    read = {*re.findall(r"\w+", lines[line - 1])}
    asked = {
        number
        for number, other in enumerate(lines, 1)
        if "in_bounds" in other and (number == line or other.split(" = ")[0].strip() in read)
    }
    x = np.arange(1 << 14, dtype=np.int32) * 7 % 1009
    defined.held_in.clear()
    for _ in range(20):
        arguments, programs = sizes_of(form, writer)
        out = np.zeros(programs * SLOTS * (ROOM if form in BLOCKS else 1), np.int32)
        by_definition(form, text, x, out, arguments, programs)
    return asked <= defined.held_in


def main(form, first, end):
    warnings.simplefilter("ignore")
    if form == "triton" and not ON_GPU:
        mended()
    right = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(int(first), int(end)):
            try:
                wrong = judged(form, seed, folder)
            except lego_emit.LegoError as error:
                wrong = f"{error}\n{kernel_of(form, seed)[0]}"
            right += not wrong
            if wrong:
                print(f"seed {seed}: {wrong}")
    print(form, right, "right")


if __name__ == "__main__":
    main(*sys.argv[1:4])
