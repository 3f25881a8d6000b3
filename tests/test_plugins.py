"""A third party's printer, as a distribution of its own: found by entry point, loaded when asked
for, and refused with one clear error where something is wrong with it."""

import importlib.util
import os
import pickle
import subprocess
import sys
import textwrap

import pytest

from lego_emit import GroupBy, generate
from lego_emit.errors import TargetError, WidthError
from lego_emit.ir.index_types import INT64, IndexType
from lego_emit.pipeline import build_program
from lego_emit.printers.c import CPrinter

pytestmark = pytest.mark.slow

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
        timeout=120,
    )
    return site


def python(code, *sites):
    """Run code with the sites on the path: (exit status, stdout, stderr)."""
    path = os.pathsep.join(map(str, [*sites, os.environ.get("PYTHONPATH", "")]))
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def lua(tmp_path_factory):
    return installed(tmp_path_factory.mktemp("lua"), "lego-emit-lua", "lego_lua")


def test_a_third_party_needs_under_60_lines():
    assert len(LUA.strip().splitlines()) < 60


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


def test_two_packages_with_one_name_are_refused(lua, tmp_path):
    other = installed(tmp_path, "other-lua", "other_lua")
    status, out, err = python(REPORT.format(targets=["lua"]), lua, other)
    assert status == 0, err
    assert out.startswith("TargetError two installed packages")
    assert "lego_lua:LuaPrinter" in out and "other_lua:LuaPrinter" in out and "uninstall" in out


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


@pytest.mark.parametrize("case", BROKEN)
def test_a_plugin_that_does_not_load_gives_one_error(case, tmp_path):
    source, word = BROKEN[case]
    site = tmp_path / "site"
    info = site / "broken-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[lego_emit.printers]\nlua = broken_lua:LuaPrinter\n")
    (site / "broken_lua.py").write_text(source)
    status, out, err = python(REPORT.format(targets=["lua", "cpp"]), site)
    assert status == 0, err
    said, other = out.splitlines()
    assert said.startswith("TargetError") and word in said
    assert "'lua'" in said and "broken_lua:LuaPrinter" in said
    assert other == "fine"


def test_the_languages_are_entry_points():
    from conftest import TARGETS

    from lego_emit.emit import registry

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
