"""A slice of ci/determinism: some golden cases, in the ways that need nothing from elsewhere."""

import determinism
import pytest

pytestmark = [pytest.mark.slow, pytest.mark.deep]

# Z3 is asked in nw: what its default solver answered depended on other threads.
CASES = "nw,expandby_5x7,linear_mma_c,strided_tiled_symbols"


def test_the_same_bytes_in_every_way(capsys):
    given = ["--only", "seeds,threads,packages", "--seeds", "1", "--cases", CASES]
    code = determinism.main(given)
    said = capsys.readouterr().out
    assert code == 0, said
    rows = [line for line in said.splitlines() if line.endswith(" 0")]
    assert [row.split()[-3] for row in rows] == ["1", "1", "2"], said
    assert "undecided" not in said


def test_a_difference_is_found_and_named(monkeypatch, capsys):
    def other(self, cases):
        made = [["nw cpp/x.hpp", "one\n"], ["nw rust/x.rs", f"{self.seed}\n"]]
        return {
            "made": made,
            "z3": {"x >= 0": ["proved"] if self.seed else ["undecided"]},
            "on": "",
        }

    monkeypatch.setattr(determinism.Run, "__call__", other)
    assert determinism.main(["--only", "seeds", "--seeds", "2", "--cases", "nw"]) == 1
    said = capsys.readouterr().out
    assert "+++ nw rust/x.rs, hash seed and order 2\n" in said and "cpp" not in said
    assert "hash seed and order 1: proved, at seed 0 undecided: x >= 0\n" in said


@pytest.mark.parametrize("given", [["--cases", "brik"], ["--only", "seed"], ["--nonsense"]])
def test_bad_usage(given, capsys):
    with pytest.raises(SystemExit) as raised:
        determinism.main(given)
    assert raised.value.code == 2
    assert capsys.readouterr().err
