"""What operations cost, so that one of several equal forms can be chosen.

Common parts count once. What depends on sizes only is computed once for many indices (a compiler
hoists it out of the loop, a GPU computes it in its scalar unit), so that it counts `hoisted` of
its price.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from ..errors import TargetError, did_you_mean, short_repr
from ..operations import OPS as OPERATIONS

NUMBERS = ("symbolic", "remainder", "margin", "hoisted", "scaled", "long")
SHIFTS = (1, 2, 3)
SCALES = (2, 4, 8)  # what is multiplied by these is added in the same instruction
BITS = 31  # of numbers that are divided


@dataclass(frozen=True, slots=True, eq=False)
class Cost:
    """A cost model. prices: operation (a key of lego_emit.operations.OPS) -> price, 1 where absent;
    division and modulo by a power of two are shr and and. symbolic: added to the price of a
    division or modulo whose divisor is no number. remainder: the price of a modulo whose quotient is
    computed too (a machine gets it from there), None where that makes no difference. margin: how
    much cheaper a form must be that was searched for its table, not derived, so that a plain one
    stays where it is nearly as good; each operation more than the plain form has must save a tenth
    of it, over sizes that are symbols one and a half times it. hoisted: the share of its price that
    an operation on sizes alone counts. scaled: what a product by 2, 4 or 8 costs less where it is added
    to something at once, which is one instruction (x86's lea); one by 3, 5 or 9 is such a sum with the
    number itself. long: added to the price of a division or modulo by a number whose reciprocal
    (`long_reciprocal`) takes one instruction more. plain: whether the normal form is taken as it stands,
    digits by division and remainder, and no cheaper form is searched for."""

    name: str
    prices: Mapping[str, float] = field(default_factory=dict)
    symbolic: float = 0
    remainder: float | None = None
    margin: float = 0
    hoisted: float = 0.5
    scaled: float = 0
    long: float = 0
    plain: bool = False

    def __post_init__(self) -> None:
        prices = dict(self.prices)
        for op, price in prices.items():
            if op not in OPERATIONS:
                raise TargetError(
                    f"Cost {self.name!r} prices {short_repr(op)}, which is not an operation."
                    f"{did_you_mean(short_repr(op), OPERATIONS)}"
                )
            if isinstance(price, bool) or not isinstance(price, int | float) or not price >= 0:
                raise TargetError(
                    f"Cost {self.name!r}: the price of {op} is {short_repr(price)}; a price is a number >= 0"
                )
        for name in NUMBERS:
            number = getattr(self, name)
            if number is None and name == "remainder":
                continue
            if isinstance(number, bool) or not isinstance(number, int | float) or not number >= 0:
                raise TargetError(
                    f"Cost {self.name!r}: {name} is {short_repr(number)}; give a number >= 0"
                )
        object.__setattr__(self, "prices", prices)


LATENCY = Cost(
    "latency",
    {op: row.price for op, row in OPERATIONS.items() if row.price > 1},
    symbolic=8,
    remainder=2.5,
    margin=1,
    scaled=1,
    long=1,
)

# Of programs with as many operations the quicker one.
TIE = 1e-4
COUNTS = {"lookup": 3}  # the place made wide, the address of the table, the load
OPS = Cost(
    "ops",
    {op: COUNTS.get(op, 1) + (price - 1) * TIE for op, price in LATENCY.prices.items()},
    symbolic=LATENCY.symbolic * TIE,
    remainder=1 + 1.5 * TIE,
    hoisted=0.01,
    scaled=LATENCY.scaled * TIE,
    long=LATENCY.long * TIE,
)

PLAIN = replace(LATENCY, name="plain", plain=True)

MOST_EFFORT = 64  # times the usual steps of a search for cheaper forms
MEASURED = "measured"  # what `lego-emit calibrate` has stored
PLACE = "LEGO_EMIT_COST"  # an environment variable that names its file

COSTS = {cost.name: cost for cost in (OPS, LATENCY, PLAIN)}


def cost_model(cost: str | Cost | None, default: Cost = LATENCY) -> Cost:
    """The model that cost= names; "measured": what was stored last. Raises TargetError for an unknown one."""
    if cost is None:
        return default
    if isinstance(cost, Cost):
        return cost
    if isinstance(cost, str) and cost == MEASURED:
        return stored()
    if not isinstance(cost, str) or cost not in COSTS:
        names = (*COSTS, MEASURED)
        raise TargetError(
            f"no cost model {short_repr(cost)}; there are {', '.join(names)}, or give a lego_emit.ir.cost.Cost."
            f"{did_you_mean(short_repr(cost), names)}"
        )
    return COSTS[cost]


@lru_cache(256)
def long_reciprocal(divisor: int) -> bool:
    """Whether a quotient by a number is no product of 32 bits with a shift: the least factor
    2**k / divisor, rounded up, that is exact for all values of 31 bits has 32 bits itself. So it is by 7
    and 14, not by 3, 10 and 12; a compiler adds the value once more."""
    divisor = abs(divisor)
    if not divisor & (divisor - 1):
        return False
    shift = BITS + 1
    while (divisor - (1 << shift) % divisor) << BITS > 1 << shift:
        shift += 1
    return (1 << shift) // divisor + 1 >= 1 << BITS


def stored_path() -> Path:
    """The file of what was measured: LEGO_EMIT_COST, or cost.json in the user's settings."""
    import os

    import click

    named = os.environ.get(PLACE)
    return Path(named) if named else Path(click.get_app_dir("lego-emit"), "cost.json")


def stored() -> Cost:
    """What `lego-emit calibrate` has stored. Raises TargetError where there is nothing, or no cost model."""
    path = stored_path()
    try:
        return _read(path, path.stat().st_mtime_ns)
    except FileNotFoundError:
        raise TargetError(
            f"cost='measured': nothing was measured on this machine ({path} is not there); run "
            "lego-emit calibrate"
        ) from None
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise TargetError(
            f"cost='measured': {path} is no cost model ({error}); run lego-emit calibrate again"
        ) from None


@lru_cache(1)
def _read(path: Path, changed: int) -> Cost:
    found = json.loads(path.read_text(encoding="utf-8"))
    found.pop("of", None)
    return Cost(MEASURED, **found)


def as_json(cost: Cost, of: str) -> str:
    """What is stored of a measured one; of: the machine."""
    numbers = {name: getattr(cost, name) for name in ("prices", *NUMBERS)}
    return json.dumps({"of": of, **numbers}, indent=1) + "\n"
