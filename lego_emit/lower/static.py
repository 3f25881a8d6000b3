"""Static sizes with a number: whether it is one that the header allows."""

from __future__ import annotations

from ..errors import AssumptionError
from ..ir.index_types import DECLARED
from ..ir.nodes import evaluate
from ..ir.program import Function
from ..ir.relations import names_in, says


def check_static(function: Function) -> None:
    """Raise AssumptionError where the number of a static size is none that the header allows."""
    numbers = {p.name: p.default for p in function.static if p.default is not None}
    for p in function.static if numbers else ():
        least, most = (DECLARED[p.type] if p.type else function.index_type).ends
        if p.default is not None and not least <= p.default <= most:
            raise AssumptionError(
                f"{function.name}: {p.name} = {p.default} of sizes= does not fit its type, "
                f"{p.type or function.index_type}"
            )
    ranges = (c for p in function.params for c in p.range.conditions(p.name))
    for c in (*ranges, *function.assumed) if numbers else ():
        if numbers.keys() >= {*names_in(c)} and evaluate(c, numbers) is False:
            given = ", ".join(f"{n} = {numbers[n]}" for n in dict.fromkeys(names_in(c)))
            raise AssumptionError(
                f"{function.name} assumes {says(c)}, which is false for {given} of sizes="
            )
