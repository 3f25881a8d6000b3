"""The array form of C's languages for devices: a fill, whose work the threads share."""

from lego_emit.emit.arrays import counter
from lego_emit.printers.c_array import ArrayForm
from lego_emit.printers.c_family import HeaderPrinter

MOST_ITEMS = 2**30  # of a fill: the counter may go that far beyond the last element


class FillPrinter(HeaderPrinter):
    """NAME_positions: a strided loop over the elements of the ':' axes.

    out: the form of the pointer to the results, with {T} and {name}.
    sharing: how threads call it, with {fill}, {out}, {rank} and {size}.
    """

    template = "fill.jinja"
    out = "{T}* {name}"
    sharing = ""
    caches_tables = False

    def counter(self, function):
        """It goes up to the items' number beyond the count."""
        return counter(function, function.index_type.most - MOST_ITEMS)

    def array_form(self, function) -> ArrayForm:
        """What the fill's template sees."""
        return ArrayForm(self, function, ("n", "count", "out", "rank", "size"))

    def fill_doc(self, function, array: ArrayForm) -> list[str]:
        """The doc comment of the fill function."""
        name, n = function.name, array.names
        out, rank, size = n["out"], n["rank"], n["size"]
        sharing = self.sharing.format(fill=self.array_name(name), out=out, rank=rank, size=size)
        lines = [
            f"Puts the results of {name} over {array.over}, into {out}. {sharing} The parameters "
            f"before {out} are those of {name}.",
            f"@param {out} room for {array.plain_count} results",
            f"@param {rank} 0 <= {rank} < {size}: which work item this is",
            f"@param {size} 1 <= {size} <= 2**30: how many work items there are",
        ]
        return [part for line in lines for part in self.comment(line, "///")]
