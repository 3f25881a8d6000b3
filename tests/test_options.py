"""Options are declared once: everything that takes, names or describes one is made from its field."""

import ast
import inspect
import os
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np
import pytest
import sympy
from click.testing import CliRunner

from lego_emit import GroupBy, LegoError, generate, render
from lego_emit.cli import main
from lego_emit.cli.options import options_for
from lego_emit.errors import OptionError
from lego_emit.options import Options, RenderOptions, beside, option, options_of
from lego_emit.project.config import KERNEL, SHARED
from lego_emit.surfaces import cmake, flags, keys, keys_table, table

ROOT = Path(__file__).parent.parent
CLASSES = (Options, RenderOptions)
LAYOUT = GroupBy([6, 4])


def own_modules():
    for folder in ("lego_emit", "printers", "targets", "web"):
        for path in (ROOT / folder).rglob("*.py"):
            if "node_modules" not in path.parts and path.name not in ("options.py", "surfaces.py"):
                yield path, ast.parse(path.read_text(encoding="utf-8"))


def is_click_s_option(node):
    """Whether a name is click.option."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return False
    return (node.value.id, node.attr) == ("click", "option")


def declared(tree):
    """The options that a module declares of its own: as click's, as keys of a table, as keywords of
    a function that takes most of generate()'s."""
    names = {n for of in CLASSES for n in options_of(of)}
    known = {f for of in CLASSES for n, (said, _) in options_of(of).items() for f in flags(n, said)}
    dashed = {n.replace("_", "-") for n in names} - names
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and is_click_s_option(node.func):
            texts = {a.value for a in node.args if isinstance(a, ast.Constant)}
            yield from (t for t in texts & known if not {"view", "name", "names"} & {t.strip("-")})
        elif isinstance(node, ast.Dict):
            texts = {k.value for k in node.keys if isinstance(k, ast.Constant)}
            yield from texts & dashed
            if len(texts & names) > 4:
                yield from texts & names
        elif isinstance(node, ast.FunctionDef):
            given = node.args.args + node.args.kwonlyargs
            taken = {a.arg for a in given if a.arg not in ("name", "sizes", "names")}
            if len(taken & names) > 4:
                yield f"{node.name}({', '.join(sorted(taken & names))})"


@pytest.mark.slow
def test_no_option_is_declared_twice():
    found = {str(p.relative_to(ROOT)): found for p, t in own_modules() if (found := {*declared(t)})}
    assert found == {}


def test_a_second_declaration_is_found():
    click_option = 'click.option("--effort", default=1)'
    assert {*declared(ast.parse(click_option))} == {"--effort"}
    assert {*declared(ast.parse('{"index-type": 1}'))} == {"index-type"}
    assert {*declared(ast.parse("def f(*, assume, ranges, base, cost, hints): pass"))}


def test_cmake_names_no_option():
    text = (ROOT / "lego_emit/cmake/LegoEmit.cmake").read_text(encoding="utf-8")
    code = re.sub(r"#.*", "", text)
    words = [n for names in cmake().values() for n in names]
    assert len(words) > 10 and not [n for n in words if re.search(rf"\b{n}\b", code)]
    printed = CliRunner().invoke(main, ["--cmake-options"]).output.splitlines()
    assert {line.split(";")[0]: line.split(";")[1:] for line in printed} == cmake()


@dataclass(frozen=True, kw_only=True)
class More(Options):
    fast: bool = option(False, "Be quick. At any price.", ("Flag",))
    most_steps: int = option(7, "How many steps, 1 to 9.", ("Number", 1, 9))


def test_a_new_field_is_all_that_an_option_takes():
    @click.command()
    @options_for(More)
    def command(**given):
        click.echo(sorted(given.items()))

    shown = CliRunner().invoke(command, ["--help"]).output
    assert "--fast" in shown and "Be quick." in shown and "At any price" not in shown
    done = CliRunner().invoke(command, ["--fast", "--most-steps", "3"])
    assert "('fast', True)" in done.output and "('most_steps', 3)" in done.output
    assert CliRunner().invoke(command, ["--most-steps", "10"]).exit_code == 2
    assert keys(More)["most-steps"].of_toml(4) == 4
    assert "MOST_STEPS" in cmake(More)["bare"] and "FAST" in cmake(More)["flag"]
    assert "| `fast=False` | `--fast` | `fast` | Be quick. At any price. |" in table(More)
    assert "| `most-steps = 4` | How many steps, 1 to 9. |" in keys_table(More)
    with pytest.raises(OptionError, match=r"no option 'most_step'.*Did you mean 'most_steps'"):
        More.of({"most_step": 1})


@pytest.mark.parametrize(("function", "of"), [(generate, Options), (render, RenderOptions)])
def test_signatures_and_docstrings_name_every_option(function, of):
    parameters = inspect.signature(function).parameters
    for name, (said, default) in options_of(of).items():
        assert parameters[name].default == default and parameters[name].kind.name == "KEYWORD_ONLY"
        assert f"\n    {name}: {said.text[:30]}" in function.__doc__
    assert "OPTIONS" not in function.__doc__ and "given" not in parameters


@pytest.mark.parametrize(("command", "of"), [("generate", Options), ("render", RenderOptions)])
def test_the_command_line_has_every_option(command, of):
    params = {p.name: p for p in main.commands[command].params}
    for name, (said, _) in options_of(of).items():
        if said.kind is not None:
            assert {*flags(name, said)} == {*params[name].opts}
            assert params[name].help == said.help


def test_a_project_has_every_key():
    assert {*keys(Options)} - {"name"} == {*SHARED} - {"targets", "output", "depends"}
    assert {*keys(RenderOptions)} <= {*KERNEL}
    for of in CLASSES:
        for key, kind in keys(of).items():
            kind.of_toml(tomllib.loads(f"{key} = {kind.example}")[key])


def test_what_stands_beside_a_layout():
    names = ["assume", "ranges", "index_type", "wrapping", "view", "walk", "split", "methods"]
    assert [*beside(dict.fromkeys([*keys(Options), *names], 1))] == names
    star = {}
    exec("from lego_emit import *", star)
    assert "assume" in star and beside(star) == {}


def between(text, mark, of):
    begun, ended = f"<!-- {mark} of {of.__name__} -->\n", f"<!-- end of {mark} -->"
    start = text.index(begun) + len(begun)
    return start, text.index(ended, start)


@pytest.mark.parametrize(
    ("page", "mark", "of", "made"),
    [
        ("api.md", "options", Options, table),
        ("api.md", "options", RenderOptions, table),
        ("build-systems.md", "keys", Options, keys_table),
    ],
)
def test_the_pages_have_the_tables(page, mark, of, made):
    path = ROOT / "docs" / page
    text = path.read_text(encoding="utf-8")
    start, end = between(text, mark, of)
    if os.environ.get("LEGO_UPDATE_DOCS"):
        path.write_text(f"{text[:start]}\n{made(of)}\n{text[end:]}", encoding="utf-8")
    else:
        assert text[start:end].strip() == made(of).strip()


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("efort", 2, r"no option 'efort'.*Did you mean 'effort'"),
        ("effort", 65, "effort is 65; give a number from 1 to 64"),
        ("strict", "no", "strict is 'no'; give True or False"),
        ("hints", 1, "hints is 1; give True or False"),
        ("view", None, "view is None; give True or False"),
        ("sizes", [("M", 2)], "sizes must be a dict"),
        ("base", 2, "base is 2; indices count from 0 or from 1"),
        ("cost", "speed", "no cost model 'speed'"),
        ("index_type", [], "no index type"),
        ("header", 3, "header=3: give a text"),
        ("names", "kebab-case", "names is 'kebab-case'"),
    ],
)
def test_a_wrong_option_is_refused(name, value, words):
    with pytest.raises(LegoError, match=words):
        generate(LAYOUT, "cpp", **{name: value})


def test_values_that_are_kept():
    assert Options(effort=np.int64(3)).effort == 3
    options = Options(header="a\nb", index_type=["auto", "int32", "int32"], assume="i < 4")
    assert options.header == ("a", "b") and options.index_type == ["auto", "int32"]
    assert (
        options.assume == ["i < 4"] and options.replace(effort=2).index_type == options.index_type
    )


def test_several_index_types_in_one_text():
    both = generate(GroupBy([70000, 4]), "c", index_type="int64,int32").source
    assert both == generate(GroupBy([70000, 4]), "c", index_type=["int64", "int32"]).source
    assert keys(Options)["index-type"].of_toml("auto,int32") == ["auto", "int32"]
    for wrong in ("g=1", "g", "1", 2):
        with pytest.raises(ValueError, match="give"):
            keys(Options)["base"].of_toml(wrong)


def test_a_type_after_a_space_is_the_name_s():
    for names in ("i j: int64", "i, j : int64", ["i", "j: int64"]):
        assert RenderOptions(names=names).names == ["i", "j:int64"]
    text = render("{{ A[i, j] }}", "rust", names="i j: int64", A=GroupBy([4, 8]))
    assert text == render("{% names i, j:int64 %}{{ A[i, j] }}", "rust", A=GroupBy([4, 8]))
    assert "as i32" in text


@pytest.mark.parametrize("names", [np.array([1, 2]), 0, False, [], sympy.Symbol("i") < 8])
def test_no_style_of_names(names):
    with pytest.raises(LegoError, match="names is"):
        generate(LAYOUT, "cpp", names=names)


def test_options_are_values():
    ranges = {"i": (0, 8)}
    options = Options(ranges=ranges, hints=np.True_, assume=np.array("i < 8"))
    ranges["i"] = (0, 99)
    assert options.ranges == {"i": (0, 8)} and options.hints is True
    assert options.assume == ["i < 8"] and options.replace(effort=3) != options
    for given in ({"efort": 2}, {1: 2}):
        with pytest.raises(OptionError, match="no option"):
            Options.of(given)
    with pytest.raises(OptionError, match="no option 'efort'"):
        options.replace(efort=2)
