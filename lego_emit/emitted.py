"""What generate() gives: an emitted unit that compiles, checks, times and explains itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .check.emission import SelfCheck
from .emit import registry
from .emit.emit import emit
from .emit.naming import AS_WRITTEN, Naming, of_module
from .emit.unit import Unit
from .errors import LegoError, TargetError, brief_methods, did_you_mean
from .ir.program import Function, Program

if TYPE_CHECKING:
    from .affine.maps import AffineMap
    from .arith.formulas import Formulas
    from .check.certificate import Certificate
    from .check.explain import Explanation
    from .check.verify import Verification
    from .measure.timing import Timing
    from .run.target import Compiled
    from .show.pictures import Picture


@brief_methods
@dataclass(frozen=True, repr=False)
class Emitted(Unit):
    """One emitted unit. subject: what generate() was given; lowered: its program, in the
    user's own names."""

    subject: Any = field(default=None, compare=False, repr=False)
    lowered: Program | None = field(default=None, compare=False, repr=False)

    def __deepcopy__(self, memo: dict[int, Any]) -> Emitted:
        return self  # nothing of it changes

    def __reduce__(self) -> Any:
        raise LegoError(
            f"{self.program.name}: a unit cannot be pickled, as the function that it was made of may be no "
            "module's; pickle its source, or call generate() in the other process"
        )

    @property
    def sympy(self) -> dict[str, Formulas]:
        """What each function computes, as SymPy expressions, operation by operation as it is
        printed: {function: formulas}, where `replacements, expressions = formulas`, as sympy.cse
        gives them, the common parts with their names and the results by name.

        Every operation is a node of lego_emit.arith.sympy_nodes, sums and products too (IntAdd,
        IntMul, ..), so that SymPy rearranges nothing; names are those of the definition. They print
        under ccode, pycode, latex and lambdify, and generate() takes them, changed or not, back:
        `generate(unit.sympy, target)` is the same program.
        """
        from .lower.as_sympy import formulas_of

        return formulas_of(self.lowered or self.program)

    @property
    def self_check(self) -> SelfCheck:
        """What was compared before the unit was given out: each function's program and its
        definition, at points that its header allows. points: of each function, at how many; reason:
        why a function was compared at none, "" where there is no such function."""
        found = {f.name: f.checked for f in (self.lowered or self.program).functions}
        reasons = (f"{n}: {why}" for n, (_, why) in found.items() if why)
        return SelfCheck({n: count for n, (count, _) in found.items()}, "; ".join(reasons))

    def compile(self, device: str = "cpu") -> Compiled:
        """Compile with the target's toolchain.

        device: "cpu", or for CUDA C "gpu" or "gpu:1", which loads the functions on that GPU
            through PyCUDA; they then take and give GPU arrays, too.

        Raises ToolchainError where the toolchain is missing or refuses the text, and its subclass
        DeviceError where there is no GPU or something that it needs.
        """
        from .run import registry as toolchains

        return toolchains.toolchain(self.printer.name).compile_for(device, [self])[0]

    def explain(self, name: str | None = None) -> Explanation:
        """The way from the layout's own formulas to what is emitted, step by step: each with its
        rule (LEGO, Table II), and what allows it and how that was proven; then the forms that were
        priced, and the one that was taken.

        name: of one function; default: all of them.

        Returns a text, for print(); a notebook shows it in parts.

        Raises LegoError for an unknown name, and for a unit that generate() did not make.
        """
        from .check.explain import explain

        return explain(self, name)

    def certificate(self, name: str | None = None) -> Certificate:
        """What the text promises of each function, for all indices and sizes that its comment allows,
        and how each promise is known: that values fit, divisions and shifts are defined, results in
        their range, inv undoes apply, and all is as the definition says. `lego-emit
        check-certificate` proves it again, from the text and the layout alone.

        name: of one function; default: all of them.

        Returns a Certificate: print it, save("file.json"). Raises TargetError for an unknown name and
        for a unit that generate() did not make, VerifyError for one of several subjects.
        """
        from .check.certificate import certificate

        return certificate(self, name)

    def show(
        self,
        name: str | None = None,
        *,
        sizes: Mapping[str, Any] | None = None,
        domain: Mapping[str, int] | None = None,
        color: str | None = None,
        bits: int = 32,
        order: bool = False,
        animate: bool = False,
    ) -> Picture:
        """A picture of what a function gives at each index: a notebook draws it, print() writes it, and
        save("file.svg") makes a file.

        name: of the function; default: the first one.
        sizes, domain: as verify() takes them.
        color: a parameter's name, "position", which goes by the result, or "bank".
        bits, order, animate: as a layout's show() takes them.

        Raises TargetError for an unknown name, LayoutError on too many indices, and as verify() does.
        """
        from .show.holders import values
        from .show.pictures import drawn

        function = self._function(name)
        return drawn([values(function, sizes or {}, domain or {}, color, bits)], order, animate)

    def affine_map(self, name: str | None = None) -> AffineMap:
        """A function as an affine_map of MLIR, whatever the unit's language: sums, products with sizes,
        which are symbols, floordiv and mod, bits as sums modulo 2.

        name: of the function; default: the first one.

        Raises TargetError for an unknown name, and with the reason where the function is none: it has a
        choice, a product of two indices, a table, or more than 6,000 characters as a map.

            >>> from lego_emit import Col, GroupBy, generate
            >>> unit = generate(GroupBy([6, 4]).OrderBy(Col(6, 4)), "c")
            >>> print(unit.affine_map("layout_inv"))
            affine_map<(d0) -> (d0 mod 6, d0 floordiv 6)>
        """
        from .affine.maps import affine_map

        return affine_map(self._function(name))

    def _function(self, name: str | None) -> Function:
        """The function of this name, the first one for None. Raises TargetError for an unknown name."""
        names = [f.name for f in self.functions]
        if name is not None and name not in names:
            raise TargetError(
                f"no function {name!r} in {self.program.name}; it has {', '.join(names)}."
                f"{did_you_mean(str(name), names)}"
            )
        return self.functions[names.index(name) if name is not None else 0]

    def verify(
        self,
        on: str = "cpu",
        *,
        sizes: Mapping[str, Any] | None = None,
        domain: Mapping[str, int] | None = None,
        reference: Any = None,
        claim: str = "",
        samples: int = 2**20,
        progress: Callable[[int, int], None] | None = None,
    ) -> Verification:
        """Check the unit over its whole index space (LEGO, section III-A: a layout is a bijection).

        A layout's apply and inv make the round trip, and every position stays in its range, which
        on a finite set proves both; an index function, or a layout without an inverse, has its
        range checked, and results that are repeated or left out are found in a bitmap. A compiled
        walk gives what the function gives at one index after the other.

        on: "cpu", through this target's toolchain, or for CUDA C "gpu" or "gpu:1".
        sizes: a number for each size that is still a symbol, as {"M": 1024}.
        domain: how far an index runs whose range the unit does not state, as {"x": 8}.
        reference: the layout or the function that was emitted, or a golden case, to compare with
            on integers, of a unit of several subjects a list of them (default: what generate() was given); over a case's whole table, else at
            the corners, both ends and `samples` random indices, a function that takes no arrays
            at some thousand of them.
        claim: "injective" or "bijective": what the bitmap must show; without a claim its line is
            a note, and nothing in it is wrong.
        progress: called with the indices done and those in all.

        Returns a Verification, true where everything held. Raises VerifyError or AssumptionError
        on sizes that are missing or that the unit rules out, ToolchainError and its subclass
        DeviceError as compile() does.
        """
        from .check.verify import verify, verify_each

        options = {"claim": claim, "samples": samples, "progress": progress}
        if self.program.parts:
            return verify_each(self, self.subject, on, sizes, domain, reference, options)
        return verify(
            self,
            on,
            subject=self.subject,
            sizes=sizes,
            domain=domain,
            reference=reference,
            **options,
        )

    def time(
        self,
        on: str = "cpu",
        *,
        sizes: Mapping[str, Any] | None = None,
        layout: Any = None,
        by_hand: tuple[Callable[..., Any], Callable[..., Any] | None] | None = None,
        bytes: int = 2**32,
        repeat: int = 30,
        progress: Callable[[int, int], None] | None = None,
    ) -> Timing:
        """Measure the cost of one index, and on a GPU a gather and a scatter through the layout,
        beside the same index written otherwise.

        on: "cpu", through this target's toolchain, or for CUDA C "gpu" or "gpu:1".
        sizes: a number for each size that is still a symbol, as {"M": 1024}.
        layout: the layout that was emitted; its unsimplified nest of divisions is measured, too.
        by_hand: (apply, inv) as one would write them by hand: Python functions of the indices, in
            + - * // % & | ^ << >> and comparisons, which are spelled in the language as they
            stand; on a GPU in the narrower of int32 and int64 that holds every index.
        bytes: of each float32 array that is gathered from and scattered to; a smaller layout is
            repeated over it.
        repeat: how often each is measured.
        progress: called with the steps done and those in all.

        Returns a Timing: ns for each index, GB/s, medians and quartiles. Raises as verify() does.
        """
        from .measure.timing import measure

        return measure(
            self,
            on,
            sizes=sizes,
            layout=layout,
            by_hand=by_hand,
            bytes=bytes,
            repeat=repeat,
            progress=progress,
        )


def emit_program(
    program: Program,
    target: str,
    *,
    subject: Any = None,
    sizes: Mapping[str, int] | None = None,
    naming: Naming = AS_WRITTEN,
    index_types: Iterable[str] = (),
) -> Emitted:
    """Print a lowered program for a target. subject: the function or layout that it is made of;
    sizes: the parameters that are numbers in it; naming, index_types: as emit() takes them."""
    static = {p.name for f in program.functions for p in f.static}
    fixed = {n: v for n, v in (sizes or {}).items() if n not in static}
    naming = of_module(registry.printer(target), program, naming)
    unit = emit(program, target, fixed, naming, index_types)
    return Emitted(
        unit.source, unit.program, unit.printer, unit.fixed, unit.known, subject, program
    )
