"""lego-emit calibrate and cost="measured"; no test asserts a time."""

import json

import fake_cuda
import pytest
from click.testing import CliRunner

from lego_emit import GroupBy, RegP, generate
from lego_emit.cli import main
from lego_emit.errors import TargetError, ToolchainError
from lego_emit.ir.cost import PLACE, as_json, stored, stored_path
from lego_emit.measure.calibrate import CHAINS, REPEAT, TURNS, UNROLLED, calibrate, source
from lego_emit.operations import OPS
from lego_emit.targets import gpu

LAYOUT = GroupBy([12, 7]).OrderBy(RegP([3, 4, 7], [1, 0, 2]))


def clock(**steps):
    """A timer: seconds of a step by the chain's name, 1 unless told, and 5 to begin."""
    return lambda name, turns: 5 + turns * UNROLLED * steps.get(name.replace(" ", "_"), 1.0)


@pytest.fixture
def place(tmp_path, monkeypatch):
    path = tmp_path / "cost.json"
    monkeypatch.setenv(PLACE, str(path))
    return path


def test_prices_are_in_additions_and_what_begins_a_chain_is_not_counted():
    cost = calibrate(timer=clock(add=2.0, mul=6.0, div=20.0))
    assert (cost.name, cost.prices["add"], cost.prices["mul"]) == ("measured", 1.0, 3.0)
    assert cost.prices["div"] == 10 and cost.prices["shl"] == 0.5
    assert cost.prices["eq"] == cost.prices["lt"]


def test_what_is_measured_beside_an_operation_is_taken_away():
    cost = calibrate(
        timer=clock(select=3.0, div=8.0, div_by_a_symbol=21.0, div_and_mod=12.0, mod=9.0)
    )
    assert cost.prices["select"] == 2 and cost.symbolic == 12 and cost.remainder == 3


def test_no_price_is_negative_and_a_remainder_costs_no_more_than_a_modulo():
    cost = calibrate(
        timer=clock(select=0.5, div=9.0, mod=2.0, div_and_mod=40.0, div_by_a_symbol=1.0)
    )
    assert min(cost.prices.values()) > 0 and cost.symbolic == 0 and cost.remainder == 2


def test_every_price_is_an_operation_s():
    assert {n for n in CHAINS if " " not in n} <= {*OPS}


def test_a_clock_that_stands_still():
    with pytest.raises(ToolchainError, match="no time that can be measured"):
        calibrate(timer=lambda name, turns: 1.0)


def test_a_compiler_that_is_missing():
    with pytest.raises(ToolchainError, match="no C compiler 'no-such-cc' is on PATH"):
        calibrate("no-such-cc")


def test_what_is_stored_chooses_forms(place):
    dear = calibrate(timer=clock(mul=90.0, shl=90.0, div=90.0))
    place.write_text(as_json(dear, "a test"))
    assert stored().prices == dear.prices and stored() is stored()
    unit = generate(LAYOUT, "c", cost="measured")
    by_hand = generate(LAYOUT, "c", cost=dear)
    assert unit.source == by_hand.source != generate(LAYOUT, "c").source
    place.write_text(as_json(calibrate(timer=clock()), "another one"))
    assert stored().prices["mul"] == 1


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "nothing was measured on this machine"),
        ("{", "no cost model"),
        ("[1]", "no cost model"),
        ('{"prices": {"zzz": 1}}', "'zzz', which is not an operation"),
        ('{"prices": {"add": -1}}', "the price of add is -1"),
        ('{"prices": 3}', "no cost model"),
        ('{"speed": 3}', "no cost model"),
        ('{"prices": {}, "symbolic": "dear"}', "symbolic"),
        ('{"prices": {}, "margin": null}', "margin"),
    ],
)
def test_a_file_that_is_no_cost_model(place, text, why):
    if text is not None:
        place.write_text(text)
    with pytest.raises(TargetError, match=f"cost='measured': .*{why}.*run lego-emit calibrate"):
        generate(LAYOUT, "c", cost="measured")


def test_the_default_place_is_the_user_s_settings(monkeypatch):
    monkeypatch.delenv(PLACE, raising=False)
    assert stored_path().name == "cost.json" and "lego-emit" in str(stored_path())


@pytest.mark.slow
def test_the_command(need, place, tmp_path):
    need("gcc", "apt-get install gcc")
    done = CliRunner().invoke(main, ["calibrate", "--compiler", "gcc"])
    assert done.exit_code == 0, done.output
    assert "Prices in additions" in done.output and f"wrote {place}" in done.output
    found = json.loads(place.read_text())
    assert "gcc" in found["of"] and all(p > 0 for p in found["prices"].values())
    (tmp_path / "layouts.py").write_text("from lego_emit import Row\n\nlayout = Row(4, 6)\n")
    source_ = str(tmp_path / "layouts.py") + ":layout"
    done = CliRunner().invoke(main, ["generate", source_, "-t", "c", "--cost", "measured"])
    assert done.exit_code == 0 and "return 6 * i + j;" in done.output


def test_on_a_gpu_a_step_has_a_link_that_is_taken_away():
    cost = calibrate(timer=clock(add=4.0, mul=6.0, div=22.0, select=8.0, **{"and": 4.0}), on="gpu")
    assert cost.prices["add"] == 1 and cost.prices["mul"] == 2 and cost.prices["div"] == 10
    assert cost.prices["select"] == 2


@pytest.mark.slow
@pytest.mark.parametrize("device", ["stand-in", pytest.param("gpu", marks=pytest.mark.gpu)])
def test_the_command_on_a_gpu(need, place, device, monkeypatch):
    if device == "stand-in":
        need("g++", "apt-get install g++")
        fake_cuda.install(monkeypatch)
        monkeypatch.setattr(gpu, "BLOCKS", 1)
        monkeypatch.setitem(TURNS, "gpu", 4)
        monkeypatch.setitem(REPEAT, "gpu", 2)
    done = CliRunner().invoke(main, ["calibrate", "--on", "gpu"])
    assert done.exit_code == 0, done.output
    found = json.loads(place.read_text())
    assert "compute capability" in found["of"] and all(p > 0 for p in found["prices"].values())


def test_a_device_that_is_not_there():
    done = CliRunner().invoke(main, ["calibrate", "--on", "tpu"])
    assert done.exit_code == 2 and "no device 'tpu'" in done.output


def test_the_program_has_a_function_for_each_chain():
    text = source()
    assert text.count("int lego_chain_") == 2 * len(CHAINS)
    assert text.count("__asm__") == UNROLLED * len(CHAINS)
    text = source("gpu")
    assert text.count("void lego_chain_") == len(CHAINS)
    assert text.count("asm") == UNROLLED * len(CHAINS)
