"""effort=: how many times the usual steps the searches for cheaper forms may take."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from net.machine import assert_sound

from lego_emit import GroupBy, RegP, generate
from lego_emit.algebra.reference import table
from lego_emit.cli import main
from lego_emit.errors import TargetError

DIGITS = GroupBy([3072]).OrderBy(RegP([8, 3, 8, 16], [1, 0, 3, 2]))


def inverse(**options):
    return generate(DIGITS, "cpp", cost="ops", **options).functions[1]


def test_more_effort_finds_a_shorter_form_of_the_same_value():
    usual, more = inverse(), inverse(effort=4)
    assert more.op_count < usual.op_count
    for flat, position in enumerate(table(DIGITS)):
        assert more.evaluate({"flat": int(position)}) == {"i": flat}
    assert_sound(more, {"flat": 3071})


def test_the_usual_effort_is_1():
    assert inverse(effort=1).op_count == inverse().op_count


@pytest.mark.parametrize("effort", [0, -1, 65, True, "2", 1.5, None])
def test_what_is_no_effort_is_refused(effort):
    with pytest.raises(TargetError, match="give a number from 1 to 64"):
        generate(DIGITS, "cpp", effort=effort)


@pytest.mark.slow
def test_the_command_line_and_the_project_file(tmp_path):
    Path(tmp_path, "layouts.py").write_text(
        "from lego_emit import GroupBy, RegP\n\n"
        "layout = GroupBy([3072]).OrderBy(RegP([8, 3, 8, 16], [1, 0, 3, 2]))\n"
    )
    source = f"{tmp_path / 'layouts.py'}:layout"
    run = ["generate", source, "-t", "cpp", "--cost", "ops"]
    usual = CliRunner().invoke(main, run).output
    more = CliRunner().invoke(main, [*run, "--effort", "4"])
    assert more.exit_code == 0 and more.output != usual
    refused = CliRunner().invoke(main, [*run, "--effort", "65"])
    assert refused.exit_code == 2 and "65 is not in the range 1<=x<=64" in refused.output

    project = Path(tmp_path, "lego-emit.toml")
    text = 'targets = ["cpp"]\noutput = "out.hpp"\ncost = "ops"\neffort = {}\n\n[[layouts]]\nsource = "layouts.py:layout"\n'
    project.write_text(text.format(4))
    done = CliRunner().invoke(main, ["build", "--config", str(project)])
    assert done.exit_code == 0, done.output
    built = Path(tmp_path, "out.hpp").read_text()
    assert inverse(effort=4).op_count < inverse().op_count
    assert built.partition("_inv(")[2] == more.output.partition("_inv(")[2]
    project.write_text(text.format('"4"'))
    done = CliRunner().invoke(main, ["build", "--config", str(project)])
    assert done.exit_code == 2 and "give a number from 1 to 64" in done.output
