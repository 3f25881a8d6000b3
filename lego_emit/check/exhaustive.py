"""layout.check(): bijection, inverse and range, at every index, by the reference evaluator.

inv(apply(i)) = i and 0 <= apply(i) < size at every index prove on a finite set that apply is a
bijection and inv its inverse (LEGO, section III-A).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from ..algebra import reference
from ..algebra.block import Block
from ..algebra.paper_definitions import reference_unravel
from ..arith.expr import Expr
from ..ends import Endless, bounded
from ..errors import LONGEST, LayoutError, LegoError, did_you_mean, error_text, line_in, short_repr
from ..numeric import apart, is_integer
from ..trace.numbered import Numbered
from ..trace.signature import Signature

if TYPE_CHECKING:
    import numpy as np

CHUNK = 2**20  # indices at a time, fewer where each has many coordinates
KEPT = 2**23  # positions of a map without inverse that are kept at a time
MOST = 2**36  # indices that are tried: an hour's work
MOST_ONE_WAY = 2**29  # of a map without inverse, which is run through for every KEPT of them


def check(block: Block, sizes: Mapping[str, int]) -> str:
    """What Block.check() says. Raises LayoutError with the first counterexample."""
    block = fixed(block, sizes)
    most = MOST if block.has_inverse else MOST_ONE_WAY
    if block.size > most:
        raise LayoutError(
            f"{block!r} has {short_repr(block.size)} indices, too many to try each (at most {most}); "
            f"choose smaller sizes"
        )
    if not block.has_inverse:
        return _one_way(block)
    held = _there_and_back(block)
    back = _filled(block)
    if held != back:
        raise LayoutError(
            f"{block!r}: apply gives {held} positions and inv has an index for {back}: not a "
            "bijection"
        )
    size, masked = block.physical_size, block.size - held
    padding = size - held
    line = f"{block.size} indices: a bijection onto 0..{size - 1}, inv undoes apply"
    if masked or padding:
        onto = f"{held} of the positions 0..{size - 1}" if padding else f"0..{size - 1}"
        line = f"{held} indices: a bijection onto {onto}, inv undoes apply"
        line += f"; {masked} are masked" * block.masks
    return line


def fixed(block: Block, sizes: Mapping[str, int]) -> Any:
    """The block with numbers for its symbols.

    Raises LayoutError where a symbol has no number, or a number no symbol.
    """
    found = symbols_of(block)
    for name in sizes:
        if name not in found:
            has = f"it has {', '.join(sorted(found))}" if found else "it has none"
            raise LayoutError(
                f"{block!r}: no size is called {name}; {has}.{did_you_mean(name, sorted(found))}"
            )
    missing = [name for name in sorted(found) if name not in sizes]
    if missing:
        given = ", ".join(f"{name}=.." for name in sorted(found))
        raise LayoutError(
            f"{block!r}: {', '.join(missing)} {'has' if len(missing) == 1 else 'have'} no number; "
            f"fix every size, as in check({given}) or --size {missing[0]}=12"
        )
    for name, number in sizes.items():
        if not is_integer(number) or int(number).bit_length() > LONGEST:
            raise LayoutError(f"{block!r}: {name} is {short_repr(number)}; give a size's number")
    return block.with_sizes(Numbered(block, sizes)) if found else block


def as_layout(given: Any, sizes: Mapping[str, int], place: str) -> Any:
    """The layout of integer sizes that a layout, or a function that returns one, stands for.

    place: what errors call it. Raises LegoError where it gives none.
    """
    if isinstance(given, Block):
        return fixed(given, sizes)
    signature, sizes = Signature(given), dict(apart(sizes))
    parameters = [n for p in signature.parameters for n in signature.members(p)]
    unknown = [name for name in sizes if name not in parameters]
    missing = [n for p in signature.taken(sizes) for n in signature.members(p) if n not in sizes]
    if unknown:
        has = f"its sizes are {', '.join(parameters)}" if parameters else "it takes none"
        raise LegoError(
            f"{place}: no size {unknown[0]}; {has}.{did_you_mean(unknown[0], parameters)}"
        )
    if missing:
        options = " ".join(f"--size {name}=.." for name in missing)
        raise LegoError(f"{place} takes {', '.join(missing)}; give numbers: {options}")
    try:
        positional, keywords = signature.arguments(sizes)
        found = bounded(given, *positional, **keywords)
    except Endless as error:
        raise LegoError(f"{place} {error}; give its loops an end") from None
    except LegoError:
        raise
    except NameError as error:
        raise LegoError(
            f"{place}: {error}; a layout is wanted, or a function that returns one, no index"
        ) from None
    except (Exception, SystemExit) as error:
        line = line_in(given, error)
        raise LegoError(f"{place}{line}: {type(error).__name__}: {error_text(error)}") from error
    if not isinstance(found, Block):
        raise LegoError(
            f"{place} gives {found!r}; a layout is wanted, or a function that gives one"
        )
    return fixed(found, {})


# -- over all indices ----------------------------------------------------------------------------


def _chunks(size: int, rank: int = 1) -> Iterator[np.ndarray]:
    from ..packages import numpy as np

    step = CHUNK // max(1, rank // 4)
    for start in range(0, size, step):
        yield np.arange(start, min(start + step, size))


def _there_and_back(block: Block) -> int:
    """How many indices have a position; each must lie in range and come back."""
    from ..packages import numpy as np

    masks = block.masks
    held = 0
    for numbers in _chunks(block.size, len(block.dims)):
        indices = reference_unravel(block.dims, numbers)
        flat = _flat(block, reference.apply(block, indices))
        inside = (flat >= 0) & (flat < block.physical_size)
        wrong = ~inside & (flat != -1) if masks else ~inside
        if wrong.any():
            at = int(np.argmax(wrong))
            raise LayoutError(
                f"{block!r}: apply({_at(indices, at)}) gives {int(flat[at])}, outside "
                f"0..{block.physical_size - 1}"
            )
        there = tuple(axis[inside] for axis in indices)
        back = block.inv(*_results(block, flat[inside]))
        differs = np.zeros(len(there[0]), bool)
        for one, other in zip(there, back, strict=True):
            differs |= one != other
        if differs.any():
            at = int(np.argmax(differs))
            position = int(flat[inside][at])
            raise LayoutError(
                f"{block!r}: apply({_at(there, at)}) gives {position} but inv({position}) gives "
                f"({_at(back, at)}): inv must undo apply"
            )
        held += int(inside.sum())
    return held


def _flat(block: Block, found: Any) -> Any:
    """The results of apply as one number, the last result fastest."""
    if not isinstance(found, tuple):
        return found
    flat = found[0]
    for size, value in zip(block.physical_dims[1:], found[1:], strict=True):
        flat = flat * size + value
    return flat


def _results(block: Block, flat: np.ndarray) -> tuple[np.ndarray, ...]:
    """What inv takes for such numbers."""
    return (flat,) if block.results is None else reference_unravel(block.physical_dims, flat)


def _filled(block: Block) -> int:
    """How many positions have an index; the others are padding."""
    if not (block.masks or block.masks_inverse):
        return block.physical_size
    return sum(
        int((reference.inv(block, flat)[0] >= 0).sum())
        for flat in _chunks(block.physical_size, len(block.dims))
    )


def _one_way(block: Block) -> str:
    """A map without inverse (section III-D): what it is; nothing can be wrong with it."""
    from ..packages import numpy as np

    passes = -(-block.size // KEPT)
    different, least, most, repeated = 0, [], [], []
    for kept in range(passes):  # each position in one of them, by a hash of it
        found = []
        for _, flat in _positions(block):
            chosen = flat if passes == 1 else flat[_hashed(flat) % passes == kept]
            values, counts = np.unique(chosen, return_counts=True)
            found.append(values)
            repeated += [int(x) for x in values[counts > 1][:1]]
        values = np.sort(np.concatenate(found))
        if not values.size:
            continue
        again = values[1:] == values[:-1]
        different += len(values) - int(again.sum())
        least.append(int(values[0]))
        most.append(int(values[-1]))
        repeated += [int(x) for x in values[1:][again][:1]]
    among = f"{min(least)}..{max(most)}"
    if not repeated:
        return f"{block.size} indices: injective into {among}, no inverse"
    twice = min(repeated)
    places = (int(k) for numbers, flat in _positions(block) for k in numbers[flat == twice])
    indices = [f"apply({_at(reference_unravel(block.dims, k))})" for k in islice(places, 2)]
    return (
        f"{block.size} indices: many-to-one, {different} positions in {among}, no inverse; "
        f"{' and '.join(indices)} both give {twice}"
    )


def _positions(block: Block) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The row-major numbers of all indices, in parts, and their positions."""
    from ..packages import numpy as np

    for numbers in _chunks(block.size, len(block.dims)):
        flat = _flat(block, reference.apply(block, reference_unravel(block.dims, numbers)))
        yield numbers, np.broadcast_to(flat, numbers.shape)


def _hashed(values: np.ndarray) -> np.ndarray:
    """A number for each that looks random (Knuth's multiplication by the golden ratio)."""
    from ..packages import numpy as np

    return values.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(40)


def _at(indices: Any, at: int | None = None) -> str:
    return ", ".join(str(int(axis if at is None else axis[at])) for axis in indices)


# -- sizes ---------------------------------------------------------------------------------------


def symbols_of(block: Block) -> set[str]:
    """The names of the symbols in a block's sizes."""
    if block.is_concrete:
        return set()
    return set().union(*(Expr.of(n).symbols() for n in (*block.sizes(), *block.offsets())))
