"""How a file's names are spelled: namespaces, prefixes and styles; several index types in one file."""

import re
import shutil

import fake_cuda
import pytest

from lego_emit import Col, GroupBy, LegoError, Linear, Row, generate, isqrt, symbols
from lego_emit.emit import registry
from lego_emit.emit.naming import Naming
from lego_emit.run import registry as toolchains
from lego_emit.types import Array

M, N = symbols("M N")
LAYOUT = GroupBy([M, N]).OrderBy(Col(M, N))
ASSUME = ["BM >= 1", "last_M >= 1", "M <= 64", "N <= 64"]
SIZES = {"M": 6, "N": 5, "BM": 2, "last_M": 3}


def tile_pos(M, N, pid_m, BM, last_M):
    """Two results, an array form, a helper and a name that a style changes."""
    at = GroupBy([M, N])[pid_m, :]
    return {"block_of": (at - 7) // BM, "rest": min(at, last_M) % last_M}


def emitted(target, **options):
    return generate({"turned": LAYOUT, "tile_pos": tile_pos}, target, assume=ASSUME, **options)


@pytest.mark.parametrize(
    ("name", "snake", "camel", "pascal", "local"),
    [
        ("tile_pos", "tile_pos", "tilePos", "TilePos", "tilePos"),
        ("tilePos", "tile_pos", "tilePos", "TilePos", "tilePos"),
        ("HTTPTile2D", "http_tile2_d", "httpTile2D", "HttpTile2D", "httpTile2D"),
        ("tile_i32_apply", "tile_i32_apply", "tileI32Apply", "TileI32Apply", "tileI32Apply"),
        ("last_M", "last_m", "lastM", "LastM", "lastM"),
        ("BM", "BM", "BM", "BM", "BM"),
        ("N_TILES", "N_TILES", "N_TILES", "N_TILES", "N_TILES"),
        ("_", "_", "_", "_", "_"),
    ],
)
def test_styles(name, snake, camel, pascal, local):
    spelled = [Naming(style=s).public(name) for s in ("", "snake_case", "camelCase", "PascalCase")]
    assert spelled == [name, snake, camel, pascal]
    assert Naming(style="PascalCase").local(name) == local


def test_a_prefix_is_a_word_of_a_style():
    assert Naming(prefix="acme_").public("tile_pos") == "acme_tile_pos"
    assert Naming(prefix="gl").public("tile_pos") == "gltile_pos"
    for prefix in ("acme", "acme_"):
        made = [Naming("", prefix, s) for s in ("snake_case", "camelCase", "PascalCase")]
        assert [n.public("tile") for n in made] == ["acme_tile", "acmeTile", "AcmeTile"]
        assert [n.public("BM") for n in made] == ["acme_bm", "acmeBm", "AcmeBm"]
        assert {n.unit("tile") for n in made} == {"acme_tile"}


def test_without_options_a_printer_is_itself():
    printer = registry.printer("cpp")
    assert printer.spelling(Naming()) is printer
    assert printer.spelling(Naming("lego")) is printer
    assert printer.spelling(Naming("acme")) is not printer and printer.namespace == "lego"


def test_all_public_names_begin_with_the_prefix(target):
    """Functions, their array forms and result types, helpers at file scope, include guards."""
    plain, unit = emitted(target), emitted(target, prefix="acme_")
    names = [f.name for f in plain.functions]
    assert [f.name for f in unit.functions] == [f"acme_{name}" for name in names]
    text = unit.source.replace(unit.program.title, "")
    assert not re.search(r"\b(turned|tile_pos)\w*(\(|::)", text), text
    assert unit.source.count("Renamed") == plain.source.count("Renamed")
    for name in re.findall(r"^#define LEGO_(\w+)$", unit.source, re.M):
        assert name.startswith("ACME_TURNED")


def test_styles_in_the_text(target):
    unit = emitted(target, names="camelCase")
    assert [f.name for f in unit.functions] == ["turnedApply", "turnedInv", "tilePos"]
    assert [p.name for p in unit.functions[2].params][2:5] == ["pidM", "BM", "lastM"]
    assert [name for name, _ in unit.functions[2].outputs] == ["blockOf", "rest"]
    assert "tilePos_" not in unit.source
    assert unit.source.count("Renamed") == emitted(target).source.count("Renamed")


def test_the_style_of_a_language(target):
    """It is that of the text; Python has the names of the definition."""
    unit, camel = emitted(target), emitted(target, names="camelCase")
    names = ["turned_apply", "turned_inv", "tile_pos"]
    assert [f.name for f in unit.functions] == names
    assert [p.name for p in unit.functions[2].params][2:5] == ["pid_m", "BM", "last_M"]
    own = target in ("javascript", "glsl", "wgsl", "metal")
    assert (unit.source == camel.source) is own
    assert [f.name for f in unit.program.functions] == (
        [f.name for f in camel.functions] if own else names
    )
    assert "tilePos" not in emitted(target, names="snake_case").source


def test_a_layout_in_a_module():
    """Rust's functions have no NAME_, where the file is of one layout and nothing else is asked for."""

    def functions(subject, **options):
        return [f.name for f in generate(subject, "rust", **options).program.callable]

    unit = generate(LAYOUT, "rust", name="volume")
    assert functions(LAYOUT, name="volume") == ["apply", "inv", "fits"]
    assert functions({"volume": LAYOUT}) == ["apply", "inv", "fits"]
    assert "Renamed" not in unit.source and "volume" not in unit.source
    assert [f.name for f in unit.functions] == ["volume_apply", "volume_inv"]
    full = ["volume_apply", "volume_inv", "volume_fits"]
    assert [*unit.compile()] == full
    assert functions(LAYOUT, name="volume", names="snake_case") == full
    assert functions(LAYOUT, name="volume", prefix="a_")[0] == "a_volume_apply"
    assert functions(Row(2, 3), name="apply") == ["apply", "inv"]
    assert functions({"a": Row(2, 3), "b": Col(2, 3)}) == ["a_apply", "a_inv", "b_apply", "b_inv"]
    assert functions(lambda M, i: M * i, name="volume_apply") == ["volume_apply"]
    clash = GroupBy([symbols("inv"), N]).OrderBy(Row(symbols("inv"), N))
    assert "Renamed: `inv` is `inv_2` here." in generate(clash, "rust").source


def test_names_that_are_one_in_the_style_of_a_language():
    def place(tile_m, tileM):
        return {"at_m": 8 * tile_m + tileM, "atM": 8 * tileM + tile_m}

    unit = generate(place, "javascript")
    assert "place(tileM, tileM_2)" in unit.source
    found = unit.compile()["place"]
    assert found(1, 2) == (10, 17) and found.__name__ == "place"
    with pytest.raises(KeyError, match="this unit has two_words"):
        generate(lambda i: i + 1, "javascript", name="two_words").compile()["twoWords"]


@pytest.mark.parametrize(
    ("target", "namespace", "line"),
    [
        ("cpp", "acme::tiles", "namespace acme::tiles {"),
        ("cuda", "acme::tiles", "namespace acme::tiles {"),
        ("hip", "acme", "}  // namespace acme"),
        ("metal", "acme", "namespace acme {"),
        ("fortran", "acme_tiles", "end module acme_tiles"),
        ("julia", "AcmeTiles", "end # module AcmeTiles"),
    ],
)
def test_namespaces_and_modules(target, namespace, line):
    source = emitted(target, namespace=namespace).source
    assert f"\n{line}\n" in source and "lego {" not in source
    if "#ifndef" in source:
        assert f"LEGO_{namespace.upper().replace('::', '_')}_TURNED" in source


@pytest.mark.parametrize(
    ("target", "options", "words"),
    [
        ("rust", {"namespace": "acme"}, "a file has none in Rust; give its names a prefix"),
        ("c", {"namespace": "acme"}, "a file has none in C;"),
        ("cpp", {"namespace": "std"}, "no name for one in C.*'acme::tiles'"),
        ("cpp", {"namespace": "a::"}, "namespace is 'a::'"),
        ("cpp", {"namespace": "a.b"}, "namespace is 'a.b'"),
        ("cpp", {"namespace": 5}, "namespace must be text, not 5"),
        ("metal", {"namespace": "a::b"}, "no name for one in Metal"),
        ("julia", {"namespace": "Base"}, "no name for one in Julia"),
        ("fortran", {"namespace": "Tile_Pos"}, "tile_pos is the module tile_pos and a function in"),
        ("cpp", {"prefix": "_a"}, "prefix is '_a'; write letters"),
        ("cpp", {"prefix": "a__"}, "single underscores"),
        ("cpp", {"prefix": 3}, "prefix must be text"),
        ("glsl", {"prefix": "gl_"}, "no name begins with .gl_. in GLSL"),
        ("cpp", {"names": "camel"}, "Did you mean 'camelCase'?"),
        ("cpp", {"names": 5}, "names is 5; there are snake_case"),
    ],
)
def test_what_is_refused(target, options, words):
    with pytest.raises(LegoError, match=words):
        emitted(target, **options)


def test_two_names_that_become_one():
    def parameters(tile_m, tileM):
        return tile_m + tileM

    def results(i):
        return {"row_of": i, "rowOf": i + 1}

    for given, both in (
        (parameters, "tile_m and tileM are both tileM"),
        (results, "row_of and rowOf are both rowOf"),
        ({"tile_a": results, "tileA": results}, "tile_a and tileA are both tileA"),
    ):
        with pytest.raises(LegoError, match=both):
            generate(given, "cpp", names="camelCase")
    with pytest.raises(LegoError, match="are both tile_m with names='snake_case'"):
        generate(parameters, "cpp", names="snake_case")


@pytest.mark.deep
def test_they_compile_and_run(toolchain):
    """Strictly, as everything that is emitted; array forms too."""
    target = toolchain.name
    spellings = [{"prefix": "acme", "names": "camelCase"}, {"names": "PascalCase"}]
    if registry.printer(target).namespaces is not None:
        spellings += [{"namespace": "acme", "prefix": "ac_"}]
    expected = [tile_pos_at(i) for i in range(5)]
    for options in spellings:
        unit = emitted(target, **options)
        assert unit.verify(sizes=SIZES), options
        if target == "triton":
            continue  # axes are powers of two there
        found = unit.compile().array(unit.functions[2].name)(6, 5, 2, 2, 3)
        assert [*zip(*(a.tolist() for a in found), strict=True)] == expected


def tile_pos_at(i):
    at = 5 * 2 + i
    return (at - 7) // 2, min(at, 3) % 3


@pytest.mark.slow
def test_kernels_find_what_is_in_a_namespace(need, monkeypatch):
    need("g++", "apt-get install g++")
    fake_cuda.install(monkeypatch)
    unit = emitted("cuda", namespace="acme::tiles", prefix="ac_")
    assert unit.verify("gpu", sizes=SIZES)
    run = unit.compile(device="gpu")
    assert run["ac_turned_apply"](6, 5, 1, 2) == 13
    found = run.array("ac_tile_pos")(6, 5, 2, 2, 3)
    assert [*zip(*(a.tolist() for a in found), strict=True)] == [tile_pos_at(i) for i in range(5)]
    alone = generate(LAYOUT, "cuda", namespace="acme", names="camelCase")
    for on in ("cpu", "gpu"):
        assert alone.time(on, sizes={"M": 32, "N": 32}, bytes=2**14, repeat=2)


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_two_namespaces_in_one_program(need, tmp_path, compiler):
    """Units of one name, whose guards and functions do not meet."""
    text = ""
    for name in ("one", "two::three"):
        for target in ("cpp", "cuda"):
            unit = emitted(target, namespace=f"{name}::{target}", view=False)
            path = f"{name.replace('::', '_')}{unit.printer.extension}"
            unit.save(tmp_path / path)
            text += f'#include "{path}"\n'
    text += (
        "static_assert(one::cpp::turned_apply(6, 5, 1, 2) == 13);\n"
        "static_assert(two::three::cuda::turned_apply(6, 5, 1, 2) == 13);\n"
    )
    (tmp_path / "main.cpp").write_text(text)
    strict = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wsign-conversion", "-Wshadow"]
    program = need(compiler, f"apt-get install {compiler}")
    toolchains.toolchain("cpp").execute(
        [program, "-std=c++17", *strict, "-Werror", "-fsyntax-only", "main.cpp"], cwd=tmp_path
    )


# -- index types ---------------------------------------------------------------------------------


def test_a_narrow_form_beside_a_wide_one():
    unit = generate([LAYOUT, tile_pos], "cuda", index_type=["auto", "int32"], assume=ASSUME[:2])
    forms = {f.name: f.index_type for f in unit.functions}
    assert forms == {
        "layout_apply": "int64", "layout_inv": "int64", "tile_pos": "int64",
        "layout_i32_apply": "int32", "layout_i32_inv": "int32", "tile_pos_i32": "int32",
    }  # fmt: skip
    wide, narrow = unit.functions[0], unit.functions[3]
    assert wide.assumptions == ("M*N <= 2**63 - 1",)
    assert narrow.assumptions == ("M*N <= 2**31 - 1",)
    assert "constexpr long long layout_apply(" in unit.source
    assert "constexpr int layout_i32_apply(" in unit.source


def test_what_needs_no_other_form_has_none():
    assert len(generate(GroupBy([4, 6]), "cpp", index_type=["auto", "int32"]).functions) == 2
    both = generate({"a": GroupBy([4, 6]), "b": LAYOUT}, "cpp", index_type=["auto", "int32"])
    names = ["a_apply", "a_inv", "b_apply", "b_inv", "b_i32_apply", "b_i32_inv"]
    assert [f.name for f in both.functions] == names
    views = generate(LAYOUT, "cpp", index_type=["auto", "uint32"], view=True, name="tile").source
    assert "class tile_view {" in views and "class tile_u32_view {" in views


@pytest.mark.parametrize(
    ("given", "index_type", "words"),
    [
        (LAYOUT, [], "no index type \\[\\]"),
        (LAYOUT, ["int32", "auto"], "auto is the first"),
        (LAYOUT, ["auto", "int33"], "Did you mean 'int32'?"),
        (LAYOUT, ["auto", [1]], "no index type"),
        (LAYOUT, 5, "no index type 5"),
        ({"f": tile_pos, "f_i32": tile_pos}, ["auto", "int32"], "f_i32 is the name of a function"),
        (symbols("i j")[0] + 1, ["auto", "int32"], "not for expressions"),
    ],
)
def test_index_types_that_are_refused(given, index_type, words):
    with pytest.raises(LegoError, match=words):
        generate(given, "cpp", index_type=index_type)


@pytest.mark.deep
def test_both_forms_run(toolchain):
    target = toolchain.name
    if len(registry.printer(target).default_index) == 1:
        pytest.skip(f"{target} has one type unless it is asked for others")
    unit = emitted(target, index_type=["int64", "int32"])
    assert unit.verify(sizes=SIZES)
    run = unit.compile()
    assert run["turned_apply"](6, 5, 1, 2) == run["turned_i32_apply"](6, 5, 1, 2) == 13


def blocks(M, N, pid_m, BM):
    at = GroupBy([M, N])[pid_m, :]
    return {"block": at // BM, "least": min(at, 3 * BM), "root": isqrt(at), "bits": (at ^ 5) << 2}


def sized(target, **options):
    """Beside int32, so that the spelling is that of its own type alone."""
    return generate(
        {"blocks": blocks, "fixed": GroupBy([6, 4]).OrderBy(Col(6, 4)), "turned": LAYOUT},
        target,
        assume=["BM >= 1", *ASSUME[2:]],
        index_type=["size_t", "int32"],
        **options,
    )


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not on PATH")
def test_nvcc_takes_them(tmp_path):
    units = [
        emitted("cuda", index_type=["auto", "int32"], namespace="acme::tiles"),
        emitted("cuda", prefix="ac", names="PascalCase"),
        sized("cuda", namespace="acme", prefix="sized_"),
        generate(LAYOUT, "cuda", view=True, names="camelCase", namespace="views"),
    ]
    assert toolchains.toolchain("cuda").cubin(units, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["c", "cpp", "cuda", "hip"])
def test_size_t(target):
    unit = sized(target)
    assert "size_t turned_apply(" in unit.source and "turned_i32_apply" in unit.source
    assert 'size_t must have 64 bits"' in unit.source
    assert unit.verify(sizes={"M": 6, "N": 5, "BM": 2})
    assert {f.index_type for f in unit.functions} == {"uint64", "int32"}


@pytest.mark.quick(1)
@pytest.mark.parametrize("target", ["cpp", "cuda", "hip"])
def test_several_units_of_size_t(target):
    """Those of one name stand in namespaces of their own, where nothing can be included."""
    units = [
        generate(LAYOUT, target, name="turned", index_type=t, sizes={"M": 3, "N": 4})
        for t in ("int32", "size_t", "size_t")
    ]
    for run in toolchains.toolchain(target).compile(units):
        assert run["turned_apply"](1, 2) == 7


def test_results_that_are_renamed_are_told():
    layout = GroupBy([4, 4]).OrderBy(Row(4, 4))

    def t(i, j):
        return {"type": layout[i, j], "new": layout[j, i]}

    assert "Renamed: `type` is `type_v` here" in generate(t, "rust").source
    assert "@note Renamed: new is new_v here" in generate(t, "cpp").source
    assert "@note Renamed: type is type_v here" in generate(t, "fortran").source


def test_a_summary_lists_the_indices_in_the_file_s_style():
    layout = Linear({"pid_m": [1, 2], "pid_n": [4, 8]}, out={"at": 16})
    assert "of (pidM, pidN)." in generate(layout, "cpp", names="camelCase").source
    assert "of (pid_m, pid_n)." in generate(layout, "cpp").source


def test_a_function_without_a_docstring_has_no_summary():
    def place(i, j):
        return 8 * i + j

    for target in ("c", "rust", "julia", "fortran", "javascript", "glsl"):
        assert " place at" not in generate(place, target).source
        assert "ndex at (" not in generate(place, target).source


# -- the names of results --------------------------------------------------------------------------


def unravel(M, p):
    return p // M, p % M


def test_names_of_a_tuples_results(toolchain):
    """They are those of the text; what is computed is the same."""
    target, inside = toolchain.name, {"p": (0, "M*M")}
    unit = generate(unravel, target, outputs=("row", "column"), ranges=inside)
    assert [n for n, _ in unit.functions[0].outputs] == ["row", "column"]
    assert "out0" not in unit.source and "out1" not in unit.source
    assert unit.verify(sizes={"M": 4})
    assert unit.compile()["unravel"](3, 7) == (2, 1)


def test_names_of_an_arrays_elements_and_of_one_result():
    def elements(p: int) -> Array[2]:
        return p // 3, p % 3

    text = generate(elements, "cpp", outputs="x, y", results="struct").source
    assert "  std::int64_t x;\n  std::int64_t y;" in text
    assert generate(lambda i: i + 1, "c", outputs="next").functions[0].outputs[0][0] == "next"
    counted = generate(unravel, "fortran", outputs="row column", base={"column": 1}).source
    assert "Counted from 1: column." in counted


@pytest.mark.parametrize(
    ("subject", "outputs", "words"),
    [
        (unravel, "x", "unravel: outputs names its results x, and it has 2; give each result"),
        (unravel, "x, x", "x, x, and x stands there twice; give each result of a tuple one name"),
        (unravel, "x, M", "x, M, and M is a parameter; give"),
        (lambda i: {"a": i, "b": i}, "x, y", "and they have names, those of what it returns; give"),
        (unravel, ("x", 2), "outputs is .*; give names such as .'x', 'y'."),
        (
            LAYOUT,
            "x",
            "layout: outputs is for a function that returns a tuple; its results are a lay",
        ),
        (
            lambda: LAYOUT,
            "x",
            "outputs is for a function that returns a tuple; its results are a lay",
        ),
        (
            (symbols("a"), symbols("b")),
            "x, y",
            "its results are of expressions: give those in a dict",
        ),
    ],
)
def test_names_that_results_cannot_have(subject, outputs, words):
    with pytest.raises(LegoError, match=words):
        generate(subject, "c", outputs=outputs)
