"""Views of layouts: an array that holds its own positions, read through the view by every index,
gives what the reference says; in C++ under its standards and std::mdspan, in CUDA C, Rust and Julia;
names, masks, indices from 1, and what has no view."""

import re
import shutil
import subprocess
from dataclasses import dataclass, field
from typing import Any

import index_functions
import numpy as np
import pytest

from lego_emit import GroupBy, Linear, Lookup, Row, Strided, TileBy, generate, golden
from lego_emit.algebra.block import Block
from lego_emit.algebra.reference import table
from lego_emit.emit import registry
from lego_emit.errors import GoldenError, TargetError, TraceError
from lego_emit.run import registry as toolchains
from lego_emit.targets.cpp import FLAGS

STRICT = (*FLAGS[1:], "-Wpedantic")
VIEWED = ("cpp", "cuda", "julia", "rust")


@dataclass(frozen=True)
class Case:
    """What is emitted, and numbers for its sizes."""

    name: str
    subject: Any
    sizes: dict[str, int] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)

    def unit(self, target):
        return generate(self.subject, target, name=self.name, view=True, **self.options)

    @property
    def layout(self):
        return self.subject if isinstance(self.subject, Block) else self.subject(**self.sizes)

    @property
    def base(self):
        return self.options.get("base", 0)

    def arguments(self, unit):
        """The numbers of the sizes, in the order of the parameters."""
        params = [p for p in unit.lowered.functions[0].params if not p.axis]
        return [str(self.sizes[p.name]) for p in params]

    @property
    def expected(self):
        """The extents, how many elements the array has, and the position of every index in row-major
        order, -1 where it is masked: by the reference."""
        layout = self.layout
        found = table(layout)
        found = found[0] if isinstance(found, tuple) else found
        return [*layout.dims, layout.physical_size, *np.ravel(found).tolist()]


def awkward(T, Element, data, view, length, N, N_):
    """Names that the texts of a view want for themselves."""
    return GroupBy([T, Element]).OrderBy(Row(data, view, T * Element // (data * view))) @ Row(
        length, N, N_, T * Element // (length * N * N_)
    )


def hiding(Extents, data_, mapping, index_type, extents_, size_type):
    """Names of members and types, which a parameter would hide."""
    return TileBy([Extents, data_, mapping], [index_type, extents_, size_type])


def of(name):
    """A golden case."""
    case = golden.load(index_functions.ROOT / name)
    return Case(case.unit, case.subject, dict(case.sizes), {"assume": case.options.assume})


LINEAR = Linear({"i": [2, 1], "j": [4, 8]}, out={"place": 16})
CASES = [
    *map(
        of, ("nw", "fig2", "brick", "expandby_5x7", "strided_pitch_symbols", "lookup_permutation")
    ),
    *(
        Case(f"lud_{t}_{b}", of("lud").subject, {"R": 3, "T": 4}, {"index_type": t, "base": b})
        for t, b in (("int32", 1), ("int64", 1), ("uint32", 0), ("uint64", 1))
    ),
    Case("masked", of("expandby_packed_5x7").subject, {}, {"base": 1}),
    Case("line", Strided((5,), (3,), 2)),
    Case("broadcast", Strided((4, 6), (0, 1))),
    Case("linear", LINEAR),
    Case("awkward", awkward, dict(T=6, Element=4, data=2, view=3, length=2, N=3, N_=2)),
    Case(
        "hiding", hiding, dict(Extents=2, data_=3, mapping=2, index_type=2, extents_=1, size_type=2)
    ),
]
FEW = [case for case in CASES if case.name in ("nw", "fig2", "lud_int32_1", "line", "masked")]


def run(command, folder):
    """What a command prints. It must succeed."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def assert_printed(printed, cases):
    """What a program printed, a line for each case, is what the reference says; how many."""
    lines = printed.splitlines()
    assert len(lines) == len(cases)
    for case, line in zip(cases, lines, strict=True):
        assert [*map(int, line.split())] == case.expected, case.name
    return sum(len(case.expected) for case in cases)


# -- C++ and CUDA C ------------------------------------------------------------------------------

CXX_HEAD = """
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <type_traits>
#include <vector>
#if __has_include(<version>)
#include <version>
#endif
#ifdef ALL_OF_CXX23
static_assert(__cpp_lib_mdspan > 0 && __cpp_multidimensional_subscript > 0);
#endif
#ifdef __cpp_lib_mdspan
#include <mdspan>
template <class T, std::size_t rank>
using Extents = std::dextents<T, rank>;
#else  // what a mapping needs of them
template <class T, std::size_t Rank>
struct Extents {
  using index_type = T;
  using size_type = std::make_unsigned_t<T>;
  using rank_type = std::size_t;
  T values[Rank];
  template <class... Others>
  constexpr Extents(Others... others) noexcept : values{static_cast<T>(others)...} {}
  static constexpr rank_type rank() noexcept { return Rank; }
  constexpr T extent(rank_type k) const noexcept { return values[k]; }
  friend constexpr bool operator==(const Extents& a, const Extents& b) noexcept {
    for (rank_type k = 0; k < Rank; ++k) {
      if (a.values[k] != b.values[k]) return false;
    }
    return true;
  }
};
#endif

static void must(bool holds) {
  if (!holds) std::abort();
}
"""

CXX_CASE = """
static void case_%(k)d() {
  using T = %(scope)s%(name)s_view<int>::index_type;
  std::vector<int> memory(%(size)d);
  std::iota(memory.begin(), memory.end(), 0);
  %(scope)s%(name)s_view view(%(arguments)s);
  const %(scope)s%(name)s_view<const int> constant = view;
  static_assert(!std::is_convertible_v<decltype(constant), decltype(view)>);
  static_assert(std::is_trivially_copyable_v<decltype(view)>);
  static_assert(std::is_same_v<decltype(constant(%(zeros)s)), const int&>);
  must(view.rank() == %(rank)d && view.data() == memory.data());
  for (int k = 0; k < view.rank(); ++k) std::printf("%%lld ", static_cast<long long>(view.extent(k)));
  std::printf("%%lld", static_cast<long long>(view.required_span_size()));
%(mapping)s
%(loops)s {
    %(masked)s
    std::printf(" %%d", view(%(index)s));
    must(&constant(%(index)s) == &view(%(index)s) && &view%(chained)s == &view(%(index)s));
#ifdef __cpp_multidimensional_subscript
    must(&view[%(index)s] == &view(%(index)s));
#endif
    view%(chained)s += 1;
    view(%(index)s) -= 1;
%(mapped)s
  }
  std::printf("\\n");
}
"""

MAPPING = """
  using Mapping = %(scope)s%(name)s_layout::mapping<Extents<long, %(rank)d>>;
  static_assert(std::is_copy_constructible_v<Mapping> && std::is_nothrow_move_assignable_v<Mapping>);
  static_assert(%(unique)s && !Mapping::is_always_strided());
  static_assert(std::is_same_v<Mapping::layout_type, %(scope)s%(name)s_layout>);
  const Mapping mapping{%(sizes)s};
  must(mapping == Mapping(mapping) && %(exhaustive)s);
  must(mapping.required_span_size() == %(size)d);
  for (int k = 0; k < view.rank(); ++k) {
    must(mapping.extents().extent(static_cast<std::size_t>(k)) == static_cast<long>(view.extent(k)));
  }
#ifdef __cpp_lib_mdspan
  const std::mdspan span(memory.data(), mapping);
#endif
"""
MAPPED = """
    must(memory[static_cast<std::size_t>(mapping(%(from_zero)s))] == view(%(index)s));
#ifdef __cpp_lib_mdspan
    must(&span[%(from_zero)s] == &view(%(index)s));
#endif
"""


def cxx_program(target, cases, folder):
    """The files of a program that prints what a case expects; the main one's name."""
    scope = "lego::" if target == "cpp" else "::"
    text, calls = CXX_HEAD, ""
    for k, case in enumerate(cases):
        unit, layout = case.unit(target), case.layout
        unit.save(folder / f"{case.name}{unit.printer.extension}")
        text += f'#include "{case.name}{unit.printer.extension}"\n'
        names = [f"i{n}" for n in range(len(layout.dims))]
        masks, sizes = layout.masks, case.arguments(unit)
        positions = [p for p in case.expected[len(names) + 1 :] if p >= 0]
        unique = len({*positions}) == len(positions)
        values = {
            "k": k, "scope": scope, "name": unit.functions[0].name.removesuffix("_apply"),
            "rank": len(names), "size": layout.physical_size,
            "sizes": ", ".join(sizes),
            # of what is not known, is_always_unique is false
            "unique": "true" if unique else "!Mapping::is_always_unique()",
            "exhaustive": "true" if unique and len(positions) == layout.physical_size else "!mapping.is_exhaustive()",
            "arguments": ", ".join(["memory.data()", *sizes]),
            "zeros": ", ".join("0" for _ in names),
            "index": ", ".join(names), "chained": "".join(f"[{n}]" for n in names),
            "from_zero": ", ".join(f"static_cast<long>({n}){f' - {case.base}' * case.base}" for n in names),
            "loops": "".join(
                f"  for (T {n} = {case.base}; {n} < view.extent({a}) + {case.base}; ++{n})\n"
                for a, n in enumerate(names)
            ),
        }  # fmt: skip
        unmasked = 'if (!view.contains({index})) {{ std::printf(" -1"); continue; }}'
        values["masked"] = unmasked.format(**values) if masks else ""
        values["mapping"] = "" if masks else MAPPING % values
        values["mapped"] = "" if masks else MAPPED % values
        text += CXX_CASE % values
        calls += f"  case_{k}();\n"
    source = "main.cpp"
    (folder / source).write_text(f"{text}\nint main() {{\n{calls}}}\n")
    return source


def assert_cxx(target, cases, folder, *command):
    source = cxx_program(target, cases, folder)
    run([*command, *STRICT, source, "-o", "program"], folder)
    return assert_printed(run(["./program"], folder), cases)


# -- Rust and Julia ------------------------------------------------------------------------------

RUST_CASE = """
mod %(module)s;
fn case_%(k)d() {
    use %(module)s::%(type)s;
    let mut memory: Vec<i64> = (0..%(size)d).collect();
    let shared = memory.clone();
    let constant = %(type)s::new(%(shared)s);
    let owned = %(type)s::new(%(owned)s);
    let mut view = %(type)s::new(%(mutable)s);
    for n in view.shape() {
        print!("{} ", n);
    }
    print!("%(size)d");
    let masked: [usize; %(masks)d] = %(masked)s;
    let mut number = 0;
    %(loops)s {
        number += 1;
        if masked.contains(&(number - 1)) {
            print!(" -1");
            continue;
        }
        view[%(index)s] += 1;
        view[%(index)s] -= 1;
        assert_eq!(owned[%(index)s], constant[%(index)s]);
        print!(" {}", view[%(index)s]);
    %(ends)s
    println!();
}
"""

JULIA_CASE = """
include("%(module)s.jl")
function case_%(k)d()
    memory = collect(0:%(size)d - 1)
    view = %(unit)s.%(type)s(%(julia)s)
    print(join(size(view), " "), " %(size)d")
    masked = Set{Int}(%(masked)s)
    for (number, index) in enumerate(Iterators.product(reverse(axes(view))...))
        index = reverse(index)
        if number - 1 in masked
            print(" -1")
            continue
        end
        view[index...] += 1
        view[index...] -= 1
        print(" ", view[index...])
    end
    println()
    %(whole)s
end
case_%(k)d()
"""


def values_of(k, case, target, folder):
    """What stands in a case of a program, and the saved unit's."""
    unit, dims = case.unit(target), case.layout.dims
    unit.save(folder / f"{case.name}{unit.printer.extension}")
    names, sizes = [f"i{n}" for n in range(len(dims))], case.arguments(unit)
    starts = [f"for {n} in {case.base}..{d + case.base}" for n, d in zip(names, dims, strict=True)]
    masked = [n for n, place in enumerate(case.expected[len(dims) + 1 :]) if place < 0]
    whole = "@assert sort(vec(view)) == memory" * (
        sorted(case.expected[len(dims) + 1 :]) == [*range(case.layout.physical_size)]
    )
    (type_name,) = unit.printer.view_names(case.name)
    return {
        "k": k, "module": case.name, "type": type_name, "size": case.layout.physical_size,
        "unit": type_name.removesuffix("View"), "masks": len(masked), "masked": masked,
        "index": names[0] if len(names) == 1 else f"[{', '.join(names)}]",
        "shared": ", ".join(["&shared[..]", *sizes]), "owned": ", ".join(["memory.clone()", *sizes]),
        "mutable": ", ".join(["&mut memory[..]", *sizes]), "julia": ", ".join(["memory", *sizes]),
        "loops": " { ".join(starts), "ends": "}" * len(names), "whole": whole,
    }  # fmt: skip


def program(form, target, cases, folder):
    """The text of a program that prints what a case expects."""
    return "".join(form % values_of(k, case, target, folder) for k, case in enumerate(cases))


def assert_rust(cases, folder, *flags):
    calls = "".join(f"    case_{k}();\n" for k in range(len(cases)))
    text = program(RUST_CASE, "rust", cases, folder)
    (folder / "main.rs").write_text(f"{text}\nfn main() {{\n{calls}}}\n")
    rustc = toolchains.toolchain("rust").find().path
    run([rustc, "-D", "warnings", *flags, "main.rs", "-o", "program"], folder)
    return assert_printed(run(["./program"], folder), cases)


def assert_julia(cases, folder):
    (folder / "main.jl").write_text(program(JULIA_CASE, "julia", cases, folder))
    julia = toolchains.toolchain("julia").find().path
    return assert_printed(run([julia, "--check-bounds=yes", "main.jl"], folder), cases)


# -- the tests -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_view_and_the_policy_in_cpp_17(need, tmp_path):
    """With extents of the test's own: what a mapping needs of them is all that it is given."""
    command = need("g++", "apt-get install g++"), "-std=c++17"
    assert assert_cxx("cpp", CASES, tmp_path, *command) > 1000


@pytest.mark.slow
def test_std_mdspan_and_multidimensional_subscripts(need, tmp_path):
    command = need("clang++-19", "apt-get install clang-19 libc++-19-dev libc++abi-19-dev")
    assert_cxx("cpp", FEW, tmp_path, command, "-stdlib=libc++", "-std=c++23", "-DALL_OF_CXX23")


@pytest.mark.slow
def test_the_view_in_cuda_on_the_host(need, tmp_path):
    command = need("clang++", "apt-get install clang"), "-std=c++17"
    assert_cxx("cuda", FEW, tmp_path, *command)


KERNEL = """
#include <cuda/std/mdspan>

#include "nw.cuh"

__global__ void steps(const int* penalty, int* scores, int b) {
  __shared__ int memory[49];
  nw_view buff(memory, b);
  const int i = threadIdx.x;
  buff[i][0] = buff(0, i) = penalty[i];
  __syncthreads();
  buff[i][i] += buff[i][0];
  using Extents = cuda::std::dextents<int, 2>;
  cuda::std::mdspan span(memory, nw_layout::mapping<Extents>(b));
  scores[i] = span(i, i) + nw_view<const int>(memory, b)(i, i);
}
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not on PATH")
def test_the_view_on_shared_memory_of_the_device(tmp_path):
    CASES[0].unit("cuda").save(tmp_path / "nw.cuh")
    (tmp_path / "kernel.cu").write_text(KERNEL)
    strict = (
        "-std=c++17",
        "-arch=sm_90",
        "-cubin",
        "-Werror",
        "all-warnings",
        "-Xcompiler",
        "-Wall,-Wextra,-Werror",
    )
    run(["nvcc", *strict, "kernel.cu"], tmp_path)
    assert b"steps" in (tmp_path / "kernel.cubin").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("toolchain", ["rust"], indirect=True)
def test_the_view_in_rust(toolchain, tmp_path):
    assert assert_rust(CASES, tmp_path, "--edition", "2018") > 1000


WRONG = """
mod nw;
fn main() {
    let view = nw::NwView::new([0; %d], %d);
    println!("{}", view[[%d, 0]]);
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("toolchain", ["rust"], indirect=True)
def test_what_panics_in_rust(toolchain, tmp_path):
    """A slice that is too short, an index out of its range, sizes that do not fit."""
    CASES[0].unit("rust").save(tmp_path / "nw.rs")
    for given, told in (
        ((48, 6, 0), "the slice is too short"),
        ((49, 6, 7), "out of its range"),
        ((49, -1, 0), "the sizes do not fit"),
        ((49, 2**62, 0), "the sizes do not fit"),
    ):
        text = WRONG.replace("[0; %d]", "vec![0; %d]") % given
        (tmp_path / "main.rs").write_text(text)
        run([toolchain.find().path, "main.rs"], tmp_path)
        done = subprocess.run(["./main"], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 101 and told in done.stderr


WRONG_IN_JULIA = """
include("nw.jl")
using .Nw
for wrong in (() -> NwView(zeros(48), 6), () -> NwView(zeros(49), 2^32 - 1), () -> NwView(zeros(49), 6)[8, 1], () -> NwView(zeros(49), 6)[0, 1])
    try
        wrong()
    catch error
        println(typeof(error))
    end
end
view = NwView(collect(0:48), 6)
println(sum(view), " ", view isa AbstractMatrix{Int}, " ", sum(view[2, :]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("toolchain", ["julia"], indirect=True)
def test_the_view_in_julia(toolchain, tmp_path):
    assert assert_julia(FEW, tmp_path) > 200
    (tmp_path / "wrong.jl").write_text(WRONG_IN_JULIA)
    row = CASES[0].expected[3 + 7 : 3 + 14]
    printed = run([toolchain.find().path, "--compile=min", "wrong.jl"], tmp_path).splitlines()
    assert printed == [*["DimensionMismatch"] * 2, *["BoundsError"] * 2, f"1176 true {sum(row)}"]


SHARED_IN_JULIA = """
include("nw.jl")
using .Nw
for change! in (
    (view, data) -> view .= reshape(data, 3, 3),
    (view, data) -> copyto!(view, reshape(data, 3, 3)),
    (view, data) -> view .= NwView(data, 2)',
    (view, data) -> view .= Base.view(view, 3:-1:1, :),
    (view, data) -> view .+= Base.view(view, :, 3:-1:1),
)
    data = collect(1:9)
    view = NwView(data, 2)
    wanted = change!(copy(view), copy(data))
    println(change!(view, data) == wanted)
end
"""

MASKED_IN_JULIA = """
include("masked.jl")
fill!(Masked.MaskedView(collect(1:35)), 0)  # without a check of the index
println("filled")
"""


@pytest.mark.slow
@pytest.mark.parametrize("toolchain", ["julia"], indirect=True)
def test_views_of_one_vector_in_julia(toolchain, tmp_path):
    """What is read while it is overwritten is copied before, as of Julia's own arrays."""
    CASES[0].unit("julia").save(tmp_path / "nw.jl")
    (tmp_path / "main.jl").write_text(SHARED_IN_JULIA)
    printed = run([toolchain.find().path, "--compile=min", "main.jl"], tmp_path)
    assert printed.split() == ["true"] * 5


@pytest.mark.slow
@pytest.mark.parametrize("toolchain", ["julia"], indirect=True)
def test_what_is_masked_is_never_written_in_julia(toolchain, tmp_path):
    generate(of("expandby_packed_5x7").subject, "julia", name="masked", view=True).save(
        tmp_path / "masked.jl"
    )
    (tmp_path / "main.jl").write_text(MASKED_IN_JULIA)
    command = [toolchain.find().path, "-O1", "main.jl"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "filled" not in done.stdout


@pytest.mark.slow
def test_clang_format_and_rustfmt_leave_the_text_alone(need, tmp_path):
    tools = {
        "cpp": [
            need("clang-format", "apt-get install clang-format"),
            f"--style=file:{index_functions.ROOT.parent / '.clang-format'}",
            "-i",
        ],
        "rust": [need("rustfmt", "apt-get install rustfmt"), "--edition", "2021"],
    }
    tools["cuda"] = tools["cpp"]
    for target, command in tools.items():
        texts = {
            f"{case.name}{registry.printer(target).extension}": case.unit(target).source
            for case in CASES
        }
        for name, text in texts.items():
            (tmp_path / name).write_text(text)
        run([*command, *texts], tmp_path)
        assert [name for name, text in texts.items() if (tmp_path / name).read_text() != text] == []


# -- names ---------------------------------------------------------------------------------------


def test_names_that_views_take():
    """Of two layouts in one file the views are apart, from functions and from each other."""
    unit = generate({"a": GroupBy([4]), "a_view": GroupBy([6])}, "cpp", view=True)
    assert [line for line in unit.source.splitlines() if line.startswith("class ")] == [
        "class a_view {", "class a_view_2_view {",
    ]  # fmt: skip
    unit = generate({"a_b": GroupBy([4]), "aB": GroupBy([6])}, "rust", view=True)
    assert "pub struct ABView<S>" in unit.source and "pub struct AB2View<S>" in unit.source
    unit = generate(awkward, "cpp", view=True)
    assert "template <class Element_2>" in unit.source


def test_other_functions_stay_as_they_are():
    for target in VIEWED:
        sources = (generate(GroupBy([6, 4]), target, view=v).source for v in (False, True))
        # The guard's checksum is one of the whole text.
        plain, viewed = (re.sub(r" 0x[0-9a-f]{8}\n", "\n", s).splitlines() for s in sources)
        rest = iter(viewed)
        for line in plain:  # the size is one more value, and one more name is exported
            assert "is enough" in line or line.startswith("export") or line in rest, line
        assert len(viewed) > len(plain) + 20


# -- what has no view ----------------------------------------------------------------------------


def index(i, j):
    return GroupBy([4, 5])[i, j]


@pytest.mark.parametrize(
    ("subject", "told"),
    [
        (index, "index: it gives no layout; a view is of a layout that gives one position"),
        ([GroupBy([4]), index], "index: it gives no layout"),
        (Linear({"i": [(1, 0), (0, 1)]}, out={"x": 2, "y": 2}), "it has several results, x, y"),
        (Strided((4,), (-1,)), "no position of Strided((4,), (-1,)) is known to be the last one"),
        (
            Lookup([8], "places"),
            "layout_apply: there is no view of a layout whose table is known at run",
        ),
    ],
)
def test_what_has_no_view(subject, told):
    with pytest.raises(TraceError) as error:
        generate(subject, "cpp", view=True)
    assert told in str(error.value)


def test_an_expression_has_no_view():
    sympy = pytest.importorskip("sympy")
    with pytest.raises(TraceError, match="it is an expression"):
        generate(sympy.Symbol("i"), "cpp", view=True)


def test_languages_without_views():
    known = ", ".join(n for n in registry.targets() if registry.printer(n).has_views)
    assert set(VIEWED) <= set(known.split(", "))
    for target in set(registry.own_targets()) - set(known.split(", ")):
        with pytest.raises(TargetError) as error:
            generate(GroupBy([4]), target, view=True)
        assert str(error.value).endswith(f"has no views of layouts; {known} have")


def test_a_golden_case_says_whether_it_has_a_view(tmp_path):
    (tmp_path / "layout.py").write_text(
        "from lego_emit import Row as layout\nlayout = layout(4)\nview = 1\n"
    )
    with pytest.raises(GoldenError, match="view is 1; give True or False"):
        golden.load(tmp_path)
    (tmp_path / "layout.py").write_text(
        "from lego_emit import GroupBy\nlayout = GroupBy([4])\nview = True\n"
    )
    case = golden.load(tmp_path)
    assert "_view {" in case.emit("cpp").source and "_view" not in case.emit("c").source
