"""Random index texts in templates, from fixed seeds. New ones: ci/fuzz --texts --minutes 10 --seed 9."""

import pytest
from marks import rest_deep
from net import texts


@pytest.mark.slow
@pytest.mark.parametrize("seed", rest_deep(range(8)))
def test_random_texts(seed):
    found = [f"{text.text!r}: {why}" for _, text, why in texts.search(seed, range(60))]
    assert not found, "\n".join(found)


def test_all_kinds_are_there():
    made = [texts.made(0, number) for number in range(400)]
    assert {text.spoiled for text in made} == {"", "name", *texts.SPOILS}
    assert {text.target for text in made} == {"python", "numpy"}
    assert any("index p" in text.template for text in made)
