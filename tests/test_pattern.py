"""Layouts in einops' notation, against NumPy's own reshape and transpose."""

import random

import numpy as np
import pytest

from lego_emit import Col, GroupBy, Pattern, generate, symbols
from lego_emit.errors import InverseError, LayoutError
from lego_emit.trace.same import same_map


def rearranged(source, result, sizes):
    """What einops' rearrange and repeat are defined as: split, transpose, repeat, join."""
    left, right = ([n for axis in side for n in axis] for side in (source, result))
    x = np.arange(int(np.prod([sizes[n] for n in left], dtype=int))).reshape(
        [sizes[n] for n in left]
    )
    x = x.transpose([left.index(n) for n in right if n in left])
    for k, n in enumerate(right):
        if n not in left:
            x = np.repeat(np.expand_dims(x, k), sizes[n], axis=k)
    return x.reshape([int(np.prod([sizes[n] for n in axis], dtype=int)) for axis in result])


def grouped(draw, names):
    """Names in axes of one and several, and some axes of size 1."""
    names, side = list(names), []
    while names:
        take = draw.randint(1, min(3, len(names)))
        side.append(names[:take])
        names = names[take:]
        if draw.random() < 0.1:
            side.append([])
    return side


def text_of(side):
    return " ".join("1" if not a else a[0] if len(a) == 1 else f"({' '.join(a)})" for a in side)


def test_random_patterns():
    draw = random.Random(1)
    for _ in range(300):
        names = list("abcdef"[: draw.randint(1, 5)])
        sizes = {n: draw.randint(1, 4) for n in names}
        left = draw.sample(
            names, len(names) if draw.random() < 0.6 else draw.randint(1, len(names))
        )
        source, result = grouped(draw, left), grouped(draw, draw.sample(names, len(names)))
        made = Pattern(f"{text_of(source)} -> {text_of(result)}", **sizes)
        wanted = rearranged(source, result, sizes)
        assert tuple(made.dims) == wanted.shape
        assert (np.asarray(made.apply(*np.indices(made.dims))) == wanted).all()
        if len(left) == len(names):
            at = tuple(draw.randrange(n) for n in made.dims)
            assert tuple(np.ravel(made.inv(made.apply(*at)))) == at


def test_patches_with_symbols():
    made = Pattern("(h p) (w q) -> h w p q", p=8, q=8)
    h, w = symbols("h w")
    assert tuple(map(str, made.dims)) == ("h", "w", "8", "8")
    apply, inv = generate(made, "cpp").functions
    assert [p.name for p in apply.params] == ["h", "w", "i", "j", "k", "l"]
    assert apply.op_count <= 7 and inv.op_count <= 8
    assert same_map(Pattern("a b -> b a"), GroupBy(symbols("b a")).OrderBy(Col(*symbols("b a"))))
    assert same_map(Pattern("h w -> (h w)", h=h, w=w), GroupBy([h * w]))


def test_a_repeat_has_no_inverse():
    made = Pattern("h w -> h c w", h=2, w=4, c=3)
    assert str(made) == "(2,3,4):(4,0,1)"
    with pytest.raises(InverseError):
        made.inv(0)


@pytest.mark.parametrize(
    "pattern, sizes, says",
    [
        (3, {}, "give text"),
        ("h w", {}, 'write "from -> to"'),
        ("a -> b -> c", {}, "one ->"),
        ("h w -> h", {}, "w is on the left alone"),
        ("h h -> h", {}, "h stands twice on the left"),
        ("h -> h h", {}, "h stands twice on the right"),
        ("(h (p q)) -> h p q", {}, "parentheses within"),
        ("(h p -> h p", {}, r"a '\(' without"),
        ("h p) -> h p", {}, r"a '\)' without"),
        ("... w -> w ...", {}, r"'\.\.\.' is not an axis.*write the axes out"),
        ("h 2 -> h", {}, "'2' is not an axis"),
        ("h w -> w h", {"hh": 2}, "the size of hh.* Did you mean 'h'"),
        ("h w -> w h", {"h": 0}, "h is 0; a size is at least 1"),
        ("h w -> w h", {"h": 2.5}, "h is 2.5"),
    ],
)
def test_what_is_refused(pattern, sizes, says):
    with pytest.raises(LayoutError, match=says):
        Pattern(pattern, **sizes)
