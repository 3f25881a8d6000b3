"""A third party's printer, as a distribution of its own: found by entry point, loaded when asked
for, and refused with one clear error where something is wrong with it."""

import importlib.util
import json
import os
import pickle
import re
import shutil
import subprocess
import sys
import textwrap
from dataclasses import replace
from hashlib import sha256
from math import inf
from pathlib import Path
from random import Random

import pytest
from marks import rest_slow
from steps import at_most

from lego_emit import ExpandBy, GroupBy, TileBy, generate
from lego_emit.emit import registry
from lego_emit.emit.printer import FunctionView, Op, call, infix
from lego_emit.emit.printer_check import check_printer
from lego_emit.errors import InternalError, TargetError, WidthError
from lego_emit.ir.index_types import INDEX_TYPES, INT64, IndexType
from lego_emit.ir.nodes import Node, evaluated
from lego_emit.ir.program import Function, Param
from lego_emit.ir.relations import between
from lego_emit.operations import OPS
from lego_emit.pipeline import build_program
from lego_emit.plugins import entries
from lego_emit.printers.c import CPrinter
from lego_emit.printers.cpp import CppPrinter
from lego_emit.printers.cuda import CudaPrinter
from lego_emit.proofcheck.check import check
from lego_emit.proofcheck.languages import c_types
from lego_emit.proofcheck.text import Type

LUA = '''
"""Lua: one module."""

from lego_emit.emit.printer import Op, Printer, call, infix


class LuaPrinter(Printer):
    """Reference: the Lua 5.4 manual, section 3.4."""

    name = "lua"
    title = "Lua"
    extension = ".lua"
    types = {"int64": "integer"}
    default_index = ("int64",)
    reserved = frozenset("and do else elseif end false for function goto if in local nil not or "
                         "repeat return then true until while".split())
    ops = {
        "mul": infix("*", 11), "div": infix("//", 11), "mod": infix("%", 11),
        "floordiv": infix("//", 11), "floormod": infix("%", 11),
        "add": infix("+", 10), "sub": infix("-", 10),
        "shl": infix("<<", 8), "shr": call("({0} // (1 << {1}))", 2), "and": infix("&", 7),
        "xor": infix("~", 6), "or": infix("|", 5),
        "lt": infix("<", 3), "le": infix("<=", 3), "gt": infix(">", 3), "ge": infix(">=", 3),
        "eq": infix("==", 3), "ne": infix("~=", 3), "land": infix("and", 2), "lor": infix("or", 1),
        "neg": Op("-{0}", 12, (13,)), "not": Op("~{0}", 12, (13,)), "lnot": Op("not {0}", 12, (13,)),
        "select": call("(({0}) and {1} or {2})", 3), "int": call("(({0}) and 1 or 0)", 1),
        "min": call("math.min({0}, {1})", 2), "max": call("math.max({0}, {1})", 2),
        "isqrt": call("isqrt({0})", 1, "isqrt"),
    }
    bit_operations = False
    helpers = {"isqrt": "local function isqrt(n) return math.floor(math.sqrt(n)) end"}
    template = """
-- {{ program.title }}
local {{ unit }} = {}
{% for helper in helpers %}
{{ helper }}
{% endfor %}
{% for f in functions %}

{% for line in f.docs %}
-- {{ line }}
{% endfor %}
function {{ unit }}.{{ f.name }}({{ f.signature("{name}") }})
{% for line in f.statements("local {name} = {expr}") %}
    {{ line }}
{% endfor %}
    return {{ f.results("{expr}") | join(", ") }}
end
{% endfor %}

return {{ unit }}
"""
'''

PROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "{name}"
version = "1.0"

[project.entry-points."lego_emit.printers"]
{target} = "{module}:LuaPrinter"
"""

# PEP 517 in full, so that the test needs no setuptools of any version.
BACKEND = """
import zipfile
from pathlib import Path

import tomllib

def build_wheel(folder, config_settings=None, metadata_directory=None):
    project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
    stem = f"{project['name'].replace('-', '_')}-{project['version']}"
    (group, entries), = project["entry-points"].items()
    files = {path.name: path.read_text() for path in Path(".").glob("*lua*.py")}
    info = {
        "METADATA": f"Metadata-Version: 2.1\\nName: {project['name']}\\nVersion: 1.0\\n",
        "WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
        "entry_points.txt": f"[{group}]\\n" + "".join(f"{k} = {v}\\n" for k, v in entries.items()),
    }
    files |= {f"{stem}.dist-info/{name}": text for name, text in info.items()}
    record = "".join(f"{name},,\\n" for name in [*files, f"{stem}.dist-info/RECORD"])
    files[f"{stem}.dist-info/RECORD"] = record
    name = f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(Path(folder) / name, "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
    return name
"""


def installed(folder, name, module, target="lua"):
    """Build and install a distribution into folder/site; the folder to put on the path."""
    project, site = folder / name, folder / "site"
    project.mkdir(parents=True)
    (project / "pyproject.toml").write_text(PROJECT.format(name=name, module=module, target=target))
    (project / "backend.py").write_text(BACKEND)
    (project / f"{module}.py").write_text(LUA)
    if importlib.util.find_spec("pip") is None:
        pytest.skip("this Python has no pip")
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"),
            *("--no-build-isolation", "--disable-pip-version-check", "--target", site, project),
        ],
        check=True,
    )
    return site


def broken(folder, source):
    """A folder with a printer of that source, as a package that is installed by hand."""
    site = folder / "site"
    info = site / "broken-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[lego_emit.printers]\nlua = broken_lua:LuaPrinter\n")
    (site / "broken_lua.py").write_text(source)
    return site


def python(code, *sites):
    """Run code with the sites on the path: (exit status, stdout, stderr)."""
    path = os.pathsep.join(map(str, [*sites, os.environ.get("PYTHONPATH", "")]))
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def lua(tmp_path_factory):
    return installed(tmp_path_factory.mktemp("lua"), "lego-emit-lua", "lego_lua")


def test_a_third_party_needs_under_60_lines():
    assert len(LUA.strip().splitlines()) < 60


@pytest.mark.slow
def test_a_third_partys_printer_is_found_and_used(lua):
    status, out, err = python(
        """
        from lego_emit import OrderBy, Row, generate
        from lego_emit.emit.registry import targets

        def index_kernel(M, N, BM, BN):
            L = OrderBy(Row(M, N)).TileBy((M // BM, N // BN), (BM, BN))
            return L[pid_m, pid_n, :, :]

        assert "lua" in targets() and "cuda" in targets()
        unit = generate(index_kernel, target="lua")
        print(unit, end="")
        assert unit.functions[0].op_count <= 7
        """,
        lua,
    )
    assert status == 0, err
    assert "function index_kernel.index_kernel(M, N, BM, BN, pid_m, pid_n, i, j)" in out
    assert "return N * (BM * pid_m + i) + BN * pid_n + j" in out
    assert "-- index_kernel(M, N, BM, BN)" in out


@pytest.mark.slow
def test_a_layout_in_both_directions_and_reserved_words(lua):
    status, out, err = python(
        """
        from lego_emit import GroupBy, generate
        unit = generate(lambda repeat, end: GroupBy([6, 4])[repeat, end] // 5, "lua", name="end")
        print(unit)
        print(generate(GroupBy([6, 4]), "lua", name="plain"))
        (found,) = unit.functions
        assert dict(found.renamed)["repeat"] == "repeat_v"
        """,
        lua,
    )
    assert status == 0, err
    assert "(repeat_v, end_v" in out
    assert "function plain.plain_inv(flat)" in out and "return flat // 4, flat % 4" in out


@pytest.mark.slow
def test_what_it_does_not_have_is_refused(lua):
    status, out, err = python(
        """
        from lego_emit import GroupBy, LegoError, generate
        try:
            generate(GroupBy([6, 4]), "lua", index_type="uint32")
        except LegoError as error:
            print(type(error).__name__, error)
        try:
            generate(GroupBy([6, 4]), "lua").compile()
        except LegoError as error:
            print(type(error).__name__, error)
        """,
        lua,
    )
    assert status == 0, err
    first, second = out.splitlines()
    assert first.startswith("TargetError Lua has no uint32; it has int64")
    assert second.startswith("ToolchainError") and "'lua'" in second


@pytest.mark.slow
def test_unknown_names_suggest_the_third_partys(lua):
    status, out, err = python(
        """
        from lego_emit import GroupBy, LegoError, generate
        try:
            generate(GroupBy([6, 4]), "luaa")
        except LegoError as error:
            print(error)
        """,
        lua,
    )
    assert status == 0, err
    assert "'lua'?" in out and ", lua, " in out


@pytest.mark.slow
def test_importing_and_using_other_targets_loads_no_plugin(lua):
    status, out, err = python(
        """
        import sys
        import lego_emit
        assert "lego_lua" not in sys.modules
        assert not [m for m in sys.modules if m.startswith(("lego_emit.printers.", "lego_emit.targets."))]
        import lego_emit.emit.registry
        lego_emit.emit.registry.targets()
        assert "lego_lua" not in sys.modules
        lego_emit.generate(lego_emit.GroupBy([4]), "cpp")
        loaded = [m for m in sys.modules if m.startswith(("lego_emit.printers.", "lego_emit.targets."))]
        print(*loaded, "lego_lua" in sys.modules)
        """,
        lua,
    )
    assert status == 0, err
    assert out.split()[-1] == "False"
    assert not {"lego_emit.printers.rust", "lego_emit.targets.cpp"} & set(out.split())


REPORT = """
from lego_emit import GroupBy, LegoError, generate
for target in {targets!r}:
    try:
        generate(GroupBy([6, 4]), target)
        print("fine")
    except LegoError as error:
        print(type(error).__name__, error)
"""


@pytest.mark.slow
def test_two_packages_with_one_name_are_refused(lua, tmp_path):
    other = installed(tmp_path, "other-lua", "other_lua")
    status, out, err = python(REPORT.format(targets=["lua"]), lua, other)
    assert status == 0, err
    assert out.startswith("TargetError two installed packages")
    assert "lego_lua:LuaPrinter" in out and "other_lua:LuaPrinter" in out and "uninstall" in out


@pytest.mark.slow
def test_a_name_that_is_built_in_is_refused(tmp_path):
    site = installed(tmp_path, "my-cuda", "my_lua_cuda", target="cuda")
    status, out, err = python(REPORT.format(targets=["cuda"]), site)
    assert status == 0, err
    assert "two installed packages" in out and "my_lua_cuda:LuaPrinter" in out


BROKEN = {
    "raises": ("raise RuntimeError('no licence')", "no licence"),
    "needs": ("import a_module_that_is_not_there", "a_module_that_is_not_there"),
    "lacks": ("x = 1", "LuaPrinter"),
    "is no class": ("LuaPrinter = 3", "no Printer class"),
    "is another class": ("class LuaPrinter: pass", "no Printer class"),
    "does not start": (
        "from lego_emit.emit.printer import Printer\n"
        "class LuaPrinter(Printer):\n"
        "    def __init__(self): raise OSError('no disk')\n",
        "no disk",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", rest_slow(BROKEN, 2))
def test_a_plugin_that_does_not_load_gives_one_error(case, tmp_path):
    source, word = BROKEN[case]
    site = broken(tmp_path, source)
    # c++ is an alias, for which all printers are looked at
    status, out, err = python(REPORT.format(targets=["lua", "cpp", "c++"]), site)
    assert status == 0, err
    said, *others = out.splitlines()
    assert said.startswith("TargetError") and word in said
    assert "'lua'" in said and "broken_lua:LuaPrinter" in said
    assert others == ["fine", "fine"]


@pytest.mark.slow
def test_a_slip_is_named_when_a_printer_is_first_asked_for(tmp_path):
    site = broken(tmp_path, LUA.replace('"isqrt": call("isqrt({0})"', '"isqrt": call("isqrt({1})"'))
    status, out, err = python(REPORT.format(targets=["lua", "c++"]), site)
    assert status == 0, err
    said, other = out.splitlines()
    assert said.startswith("TargetError Lua: ops['isqrt'] is 'isqrt({1})'") and other == "fine"


@pytest.mark.slow
def test_the_languages_are_entry_points():
    from conftest import TARGETS

    assert set(TARGETS) <= set(registry.targets())
    for name in TARGETS:
        printer = registry.printer(name)
        assert printer.name == name and printer.title and printer.extension.startswith(".")
        assert registry.printer(name.upper()) is not None
        for alias in printer.aliases:
            assert registry.printer(alias).name == name


def test_a_printer_does_not_touch_the_core():
    """What the Lua printer imports is all that a language needs."""
    imports = [line for line in LUA.splitlines() if "import" in line]
    assert imports == ["from lego_emit.emit.printer import Op, Printer, call, infix"]


def lua_printer(**attributes):
    """The Lua printer with other attributes; those that are a dict are put beside what is there."""
    names = {"__name__": "broken_lua"}
    exec(LUA, names)
    base = names["LuaPrinter"]
    merged = {
        name: {**getattr(base, name), **value} if isinstance(value, dict) else value
        for name, value in attributes.items()
    }
    return type("BrokenPrinter", (base,), {"__module__": "broken_lua", **merged})()


SLIPS = {
    "a third operand": (
        {"ops": {"add": Op("{0} + {2}", 10, (10, 11))}},
        "ops['add'] is '{0} + {2}', which cannot be filled in (IndexError.. it may have {0}, {1}",
    ),
    "an unknown field": (
        {"ops": {"mul": Op("{0} * {x}", 10, (10, 11))}},
        "ops['mul']..KeyError: 'x'); it may have {0}, {1}, {T}, {unit}",
    ),
    "an open brace": ({"ops": {"mul": Op("{0} * {1", 10, (10, 11))}}, "ops['mul']..ValueError"),
    "an unused operand": (
        {"ops": {"mul": Op("{0} * {0}", 10, (10, 11))}},
        "ops['mul'] is '{0} * {0}', without its operand 1; write {1}",
    ),
    "a short needs": (
        {"ops": {"add": Op("{0} + {1}", 10, (10,))}},
        "ops['add'] has needs for 1 operand, and add has 2; give one number for each",
    ),
    "a long needs": ({"ops": {"neg": infix("-", 10)}}, "ops['neg'] has needs for 2 operands"),
    "no number": (
        {"ops": {"neg": Op("-{0}", 12, ("13",))}},
        "ops['neg'] binds by what is no number",
    ),
    "a forgotten comma": (
        {"ops": {"neg": Op("-{0}", 12, (13))}},
        "ops['neg'] has the needs 13; give a tuple of numbers, as (13,)",
    ),
    "no Op": ({"ops": {"add": "+"}}, "ops['add'] is '+'; give an Op, which infix()"),
    "another type's": (
        {"typed_ops": {"int64": {"add": Op("{0} + {2}", 10, (10, 11))}}},
        "typed_ops['int64']['add'] is '{0} + {2}', which cannot be filled in",
    ),
    "no type's": ({"typed_ops": {"int46": {}}}, "typed_ops names 'int46',.. types (int64)"),
    "no dict": ({"ops": {}, "typed_ops": {"int64": ()}}, "typed_ops['int64'] is (); give a dict"),
    "an unknown helper": (
        {"ops": {"isqrt": call("root({0})", 1, "isqr")}},
        "ops['isqrt'] calls the helper 'isqr',.. define it there. Did you mean 'isqrt'?",
    ),
    "a helper that is no text": ({"helpers": {"isqrt": 3}}, "helpers['isqrt'] is 3; give a text"),
    "a type that is no text": ({"types": {"int64": 64}}, "types['int64'] is 64; give a text"),
    "an absent type": (
        {"default_index": ("int32", "int64")},
        "default_index names 'int32', which is not in types (int64); set default_index to some",
    ),
    "no default": ({"default_index": ()}, "default_index is empty; name types.. (int64)"),
    "a text for a tuple": (
        {"default_index": "int64"},
        "default_index is 'int64'; give a tuple or a set of texts",
    ),
    "a text for a set": ({"reserved": "and do end"}, "reserved is 'and do end'; give a tuple or a set"),
    "another type's name": ({"index_names": {"size_t": ("uint64", "size_t")}}, "index_names['size_t'"),
    "a name that is taken": ({"index_names": {"uint32": ("int64", "n")}}, "index_names has 'uint32'"),
    "a table that is none": ({"helpers": ("isqrt",)}, "helpers is ('isqrt',); give a dict"),
    "a declaration": ({"declaration": "local {nme}"}, "declaration is 'local {nme}', which cannot"),
    "a cast": ({"cast": "int({1})"}, "cast is 'int({1})', which cannot be filled in"),
    "another name": ({"name": "luna"}, "name is 'luna', and its package's entry point 'lua'; give both"),
    "an extension": ({"extension": "lua"}, "extension is 'lua'; write it with its dot"),
    "a type of no ends": ({"types": {"int24": "integer"}}, "'int24' is no common index type"),
}  # fmt: skip


@pytest.mark.parametrize("case", SLIPS)
def test_a_slip_in_a_table_is_named(case):
    attributes, message = SLIPS[case]
    with pytest.raises(TargetError) as refused:
        check_printer(lua_printer(**attributes), "lua")
    first, *others = f"Lua: {message}".split("..")
    assert str(refused.value).startswith(first)
    assert all(part in str(refused.value) for part in others)


def test_a_printer_that_reads_its_texts_itself_may_have_others():
    """As MLIR's does: what an override of op() makes of a text is not known."""
    ops = {"lookup": Op("load {table}[{1}]", 10, (0, 0)), "mul.wide": Op("{0} *. {2}", 9, (0,) * 3)}
    check_printer(lua_printer(ops=ops, op=lambda self, node, view: None), "lua")
    with pytest.raises(TargetError, match="'lookup'"):
        check_printer(lua_printer(ops=ops), "lua")


def test_a_helper_that_an_override_calls_is_defined(monkeypatch):
    def op(self, node, view):
        return replace(self.ops[node.op], helper="checked")

    monkeypatch.setattr(registry, "printer", lambda target: printer)
    printer = lua_printer(op=op)
    check_printer(printer, "lua")
    with pytest.raises(TargetError, match="Lua: helpers has no 'checked', which a spelling calls"):
        generate(lambda i: i + 1, "lua", name="f")


def test_the_page_lists_what_a_template_may_use():
    page = (Path(__file__).parents[1] / "docs" / "add-a-language.md").read_text(encoding="utf-8")
    methods = [name for name in vars(FunctionView) if not name.startswith("_")]
    assert {"signature", "statements", "results", "docs"} <= {*methods}
    assert [name for name in methods if not re.search(rf"`f\.{name}\b", page)] == []
    for name in ("unit", "program", "tables", "helpers", "functions", "printer"):
        assert re.search(rf"^\|.*`{name}`.* \|", page, re.M), name


def test_our_own_printers_have_no_slip():
    for name in registry.own_targets():
        check_printer(registry.printer(name), name)


def test_a_check_takes_no_time():
    printer = lua_printer()
    check_printer(printer, "lua")
    with at_most(3_000):
        check_printer(printer, "lua")


FILES = {
    "empty": ("", "Lua: the file has no function f; let the template of BrokenPrinter print each"),
    "no functions": ("local M = {}", "Lua: the file has no function f; "),
    "a form": (
        "{{ unit }}\n{% for f in functions %}{{ f.signature('{nme}') }}{% endfor %}",
        "Lua: the template of broken_lua, line 2, cannot be used: KeyError: 'nme'",
    ),
    "a call": (
        "{% for f in functions %}{{ f.results() }}{% endfor %}",
        "Lua: the template of broken_lua, line 1, cannot be used: TypeError: .*results",
    ),
}


@pytest.mark.parametrize("case", FILES)
def test_a_template_that_does_not_print_the_functions(monkeypatch, case):
    template, message = FILES[case]
    printer = lua_printer(template=template)
    monkeypatch.setattr(registry, "printer", lambda target: printer)
    with pytest.raises(TargetError, match=message):
        generate(lambda i: i + 1, "lua", name="f")


def test_negative_numbers_need_a_minus(monkeypatch):
    printer = lua_printer()
    printer.ops = {name: op for name, op in printer.ops.items() if name != "neg"}
    monkeypatch.setattr(registry, "printer", lambda target: printer)
    assert "return i + 1" in str(generate(lambda i: i + 1, "lua", name="f"))
    with pytest.raises(
        TargetError, match="Lua has no spelling for 'neg'; give its printer's ops one"
    ):
        generate(ExpandBy([5], [6], TileBy([3], [2])), "lua")


INT24 = IndexType("int24", -(2**23), 2**23 - 1)


class OddPrinter(CPrinter):
    """A language with an index type that nobody else knows."""

    title = "Odd"
    types = {"int64": "int64_t", INT24: "int24_t"}
    default_index = ("int24", "int64")


def test_an_index_type_of_the_language_s_own():
    odd = OddPrinter()
    assert odd.index_types == {"int64": INT64, "int24": INT24}
    fits, other = (build_program(GroupBy([n, 2**10]), odd, "f") for n in (2**13, 2**14))
    assert {f.index_type for f in fits.functions} == {INT24}
    assert {f.index_type for f in other.functions} == {INT64}
    with pytest.raises(WidthError, match="does not fit int24"):
        build_program(GroupBy([2**14, 2**10]), odd, "f", index_type="int24")
    assert pickle.loads(pickle.dumps(INT24)).ends == INT24.ends
    with pytest.raises(TargetError, match=r"no index type 'int24'; C\+\+ has auto, int32"):
        generate(GroupBy([6]), "cpp", index_type="int24")


def test_an_index_type_that_does_not_say_what_it_holds(monkeypatch):
    monkeypatch.setattr(OddPrinter, "types", {"int64": "int64_t", "int24": "int24_t"})
    with pytest.raises(TargetError, match="Odd: 'int24' is no common index type; write IndexType"):
        build_program(GroupBy([6]), OddPrinter(), "f")


U10 = IndexType("u10", 0, 1023)
WIDTHS = {
    U10: 10,
    INT24: 24,
    IndexType("uint48", 0, 2**48 - 1): 48,
    IndexType("int128", -(2**127), 2**127 - 1): 128,
    # ends that are not those of so many bits
    IndexType("int53", -(2**53 - 1), 2**53 - 1): 64,
    IndexType("uneven", -5, 1000): 32,
    IndexType("thousand", 0, 1000): 32,
    IndexType("int", -inf, inf): 64,
}


class ToyPrinter(CPrinter):
    """C with an unsigned type of 10 bits and a signed one of 24."""

    title = "Toy"
    types = {"int64": "int64_t", U10: "u10_t", INT24: "int24_t"}
    default_index = ("u10", "int24", "int64")

    def literal(self, value, index_type):
        return str(value)


@pytest.fixture
def toy(monkeypatch):
    """The toy printer in the place of C's."""
    printer = ToyPrinter()
    monkeypatch.setattr(registry, "printer", lambda target: printer)


def shifted(i, s):
    return i >> s


def test_the_width_of_a_type_comes_from_its_ends():
    for index_type, width in {**{t: int(t[-2:]) for t in INDEX_TYPES.values()}, **WIDTHS}.items():
        assert index_type.width == width, index_type


@pytest.mark.parametrize("name, width", [("u10", 10), ("int24", 24)])
def test_a_shift_stays_within_an_own_type_s_width(toy, monkeypatch, name, width):
    def emitted(distances, index_type=name):
        ranges = {"i": (0, 1000), "s": (0, distances)}
        return generate(shifted, "c", index_type=index_type, ranges=ranges)

    with pytest.raises(WidthError, match=f"up to {width} does not fit {name}, .* most {width - 1}"):
        emitted(width + 1)
    assert emitted(width + 1, "auto").functions[0].index_type != name
    unit = emitted(width)
    assert "return i >> s;" in str(unit)
    # The checker reads the text: what is narrower than an int is shifted as one.
    types = {"u10_t": Type("u10", 10, signed=False), "int24_t": Type("int24", 24)}
    monkeypatch.setattr(c_types, "TYPES", {**c_types.TYPES, **types})
    text, source = unit.certificate().json, unit.source
    assert check(json.loads(text), source, shifted)
    text, source = (x.replace(f"s < {width}", "s < 33") for x in (text, source))
    data = {**json.loads(text), "sha256": sha256(source.encode()).hexdigest()}
    report = check(data, source, shifted)
    assert [line.says for line in report.lines if line.verdict == "refuted"] == ["shifts"]


def test_a_program_shifts_less_than_its_type_s_width():
    def program(index_type, farthest):
        i, s = (Node("var", (), name, 0, hi) for name, hi in (("i", 1000), ("s", farthest)))
        params = tuple(Param(v.value, between(v.lo, v.hi + 1), v.lo, v.hi) for v in (i, s))
        outputs = (("f", Node("shr", (i, s), None, 0, 1000)),)
        return Function("f", params, (), outputs, index_type)

    for index_type, width in WIDTHS.items():
        program(index_type, width - 1).check()
        with pytest.raises(InternalError, match="shift distance"):
            program(index_type, width).check()


def test_masked_positions_of_an_own_unsigned_type(toy, monkeypatch):
    layout = ExpandBy([5, 7], [6, 8], TileBy([3, 4], [2, 2]))
    unit = generate(layout, "c", index_type="u10", name="f")
    assert "0x3ff" in str(unit) and "UINT" not in str(unit)
    types = {"u10_t": Type("u10", 10, signed=False)}
    monkeypatch.setattr(c_types, "TYPES", {**c_types.TYPES, **types})
    assert check(json.loads(unit.certificate().json), unit.source, layout)


@pytest.mark.parametrize("base", [CppPrinter, CudaPrinter])
def test_an_array_form_counts_in_a_type_that_holds_the_count(monkeypatch, base):
    def rows(i):
        return GroupBy([512, 4])[:, :] // 4 + i

    types = {"types": {**base.types, U10: "u10_t"}, "literal": ToyPrinter.literal}
    printer = type("Wide", (base,), types)()
    monkeypatch.setattr(registry, "printer", lambda target: printer)
    source = generate(rows, "cpp", index_type="u10", ranges={"i": (0, 100)}).source
    wide = printer.types["uint64"]
    assert f"{wide}{{2048}}" in source or f"for ({wide} n = " in source
    assert "u10_t{2048}" not in source and "for (u10_t" not in source


SIGNS = {op: row.sign for op, row in OPS.items() if row.sign and "b" not in row.takes}


def on_machine(node, values, index_type):
    """A node's value on a machine that has only numbers of the type, and stops at any other."""
    if node.op == "const":
        found = node.value
    elif node.op == "var":
        found = values[node.value]
    elif node.op == "select":
        held = on_machine(node.args[0], values, index_type)
        return on_machine(node.args[1 if held else 2], values, index_type)
    else:
        args = [on_machine(a, values, index_type) for a in node.args]
        if node.op in ("shl", "shr"):
            assert 0 <= args[1] < WIDTHS[index_type]
        if node.op in ("div", "mod"):
            assert args[0] >= 0 < args[1]
        if node.op in ("neg", "not"):
            found = -args[0] - (node.op == "not")
        elif node.op in ("min", "max"):
            found = {"min": min, "max": max}[node.op](args)
        else:
            signs = {**SIGNS, "div": "//", "mod": "%", "floordiv": "//", "floormod": "%"}
            found = eval(f"{args[0]} {signs[node.op]} {args[1]}")
    assert node.is_bool or index_type.least <= found <= index_type.most
    return found


EXPRESSIONS = [
    "i + j", "i * j", "3*i - j", "j - i - 1", "-(i * j)", "(i | j) ^ s", "(i << s) % 7", "~i >> s",
    "i - (j >> s)", "(j - i) & 3", "-((~j) % 2)", "i // 3 * j - 5", "(i * s - j) >> 2",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("index_type", [t for t in WIDTHS if 1000 <= t.most < 2**24], ids=str)
@pytest.mark.parametrize("bounds", [{}, {"i": (0, 40), "j": (0, 60)}], ids=["open", "bounded"])
def test_conditions_are_enough_for_an_own_type(bounds, index_type):
    """Where the header's conditions hold, every value on the way is one of the type."""
    kind = type("Own", (CPrinter,), {"title": "Own", "types": {index_type: "own"}})
    least, most = index_type.ends
    ends = (least, -1000, -5, 0, 1, 30, 39, 59, 333, 500, 1000, 1023, most)
    for text in EXPRESSIONS:
        names = [name for name in "ijs" if name in text]
        function = eval(f"lambda {', '.join(names)}: {text}")
        ranges = {n: r for n, r in {**bounds, "s": (0, 9)}.items() if n in names}
        try:
            program = build_program(function, kind(), "f", index_type=index_type, ranges=ranges)
        except WidthError:
            continue  # no condition helps
        (made,) = program.functions
        if made.unseen:
            continue  # the header says that every value fits
        told = [*made.assumed, *(c for p in made.params for c in p.range.conditions(p.name))]
        random, compared = Random(text), 0
        for _ in range(2000):
            values = {n: random.choice((*ends, random.randrange(-9, 60))) for n in names}
            if "s" in names:
                values["s"] = random.randrange(9)
            if not all(least <= v <= most for v in values.values()):
                continue
            if not all(evaluated(c, values, {}) for c in told):
                continue
            known = dict(values)
            for name, node in made.body:
                known[name] = on_machine(node, known, index_type)
            results = [on_machine(node, known, index_type) for _, node in made.outputs]
            assert results == [function(**values)], (text, values)
            compared += 1
        assert compared, text


NO_TYPES = {
    "a common name": (
        IndexType("int32", 0, 5),
        "common type's name and other ends; name it otherwise",
    ),
    "auto": (IndexType("auto", 0, 5), "no name that index_type= can take; name it otherwise"),
    "no name": (IndexType("", 0, 5), "no name that index_type= can take"),
    "reversed": (IndexType("u10", 1023, 0), "holds no two numbers; give the least first"),
    "one number": (IndexType("u10", 0, 0), "holds no two numbers"),
    "fractions": (IndexType("u10", 0, 1023.5), "are no int; give the first and the last integer"),
    "text": (IndexType("u10", "0", "1023"), "are no int"),
    "nothing": (IndexType("u10", None, None), "are no int"),
    "a truth": (IndexType("u10", False, 1023), "are no int"),
    "half open": (IndexType("nat", 0, inf), "are no int; .* or -inf and inf"),
    "open from below": (IndexType("nonpositive", -inf, 0), "are no int"),
}


@pytest.mark.parametrize("case", NO_TYPES)
def test_an_index_type_that_nothing_can_be_proved_of(case):
    index_type, message = NO_TYPES[case]
    types = {"int64": "int64_t", index_type: "own"}
    kind = type("Own", (CPrinter,), {"title": "Own", "types": types})
    with pytest.raises(TargetError, match=f"Own: the key IndexType.* of types .*{message}"):
        build_program(GroupBy([6]), kind(), "f", index_type="int64")


def test_a_common_type_may_be_written_with_its_own_ends():
    kind = type("Own", (CPrinter,), {"types": {IndexType("int64", *INT64.ends): "long"}})
    assert kind().index_types == {"int64": INT64}


def test_what_is_installed_while_python_runs_is_found(tmp_path, monkeypatch):
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(site)
    assert "lua" not in entries("lego_emit.printers")
    broken(tmp_path / "made", "").joinpath("broken-1.0.dist-info").rename(
        site / "broken-1.0.dist-info"
    )
    assert entries("lego_emit.printers")["lua"].value == "broken_lua:LuaPrinter"
    shutil.rmtree(site / "broken-1.0.dist-info")
    assert "lua" not in entries("lego_emit.printers")
    read = []
    monkeypatch.setattr("lego_emit.plugins.entry_points", lambda group: read.append(group) or ())
    assert entries("lego_emit.printers") and not read
