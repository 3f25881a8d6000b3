"""What CuTe's users cut tensors with: local tiles and partitions, tiled copies and MMAs.

A tensor is here its layout: a Strided, a Swizzled, its text, or the Coordinates of an identity
layout. Source: CUTLASS's include/cute/tensor_impl.hpp, atom/copy_atom.hpp and atom/mma_atom.hpp.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..algebra.linear_map import LinearMap
from ..algebra.nested import is_tuple, modes, times
from ..algebra.sizes import listed
from ..algebra.strided import Strided, is_one
from ..errors import IndexRangeError, LayoutError, LazyText, brief, short_repr
from ..numeric import is_integer, is_symbolic
from .atoms import CopyAtom
from .convert import to_cute
from .given import as_layout, as_shape, as_tiler, over
from .known import at_most, does_divide
from .making import get, make_layout, with_offset
from .maps import coalesce, composition, is_zero, right_inverse, size
from .reading import layout
from .tiling import logical_divide, logical_product, raked_product, tiled_product, zipped_divide
from .vectors import upcast

# -- tiles and partitions ------------------------------------------------------------------------


@brief
def local_tile(tensor: Any, tiler: Any, coord: Any, proj: Any = None) -> Any:
    """The tile at a coordinate: zipped_divide, sliced by the coordinate in its second mode. None in
    the coordinate keeps a mode, after the tile's.

    tiler: a size for each mode, or layouts. coord: an index or symbol for each mode that the tiler
    divides, or one flat index of the tiles. proj: a tuple with None for each part of tiler and
    coord that is left out, as CuTe's Step<_1, X, _1>.

    Raises LayoutError where the tiler does not divide, IndexRangeError where coord does not fit.

        >>> from lego_emit import cute
        >>> print(cute.local_tile("(64,64):(64,1)", (8, 16), (2, 1)))
        (8,16):(64,1) + 1040
    """
    if is_tuple(proj):
        construct = LazyText("local_tile(.., {}, {}, {})", tiler, coord, proj)
        tiler, coord = (_projected(x, proj, construct) for x in (tiler, coord))

    def cut(a: Strided) -> Strided:
        tiles = zipped_divide(a, tiler)
        within, over_ = tiles.shape if is_tuple(tiler) else (None, tiles.shape[1])
        place = _places(coord, over_, LazyText("local_tile({!s}, {}, {})", a, tiler, coord))
        return _kept(tiles, (None if within is None else (None,) * len(modes(within)), place))

    return over(tensor, cut, "local_tile(..)")


@brief
def local_partition(tensor: Any, threads: Any, index: Any, proj: Any = None) -> Any:
    """What one thread has of a tensor: its element of each tile of the threads' shape.

    threads: a layout of thread coordinates to thread indices. index: a thread, an integer or a
    symbol. proj: a tuple with None for each mode of threads that is left out: threads that differ
    in it alone have the same part.

    Raises LayoutError where the threads do not divide, IndexRangeError where index is no thread.

        >>> from lego_emit import cute
        >>> print(cute.local_partition("(8,16):(16,1)", "(4,8):(8,1)", 9))
        (2,2):(64,8) + 17
    """
    threads = as_layout(threads, "local_partition(..)")
    construct = LazyText("local_partition(.., {!s}, {})", threads, index)
    if is_tuple(proj):
        parts = [
            _projected(x, proj, construct) for x in (modes(threads.shape), modes(threads.stride))
        ]
        threads = Strided(*parts)
    if not (is_symbolic(index) or is_integer(index)) or (is_integer(index) and index < 0):
        raise IndexRangeError(f"{construct}: the index is no thread; give an integer or a symbol")
    place = _coordinate_of(threads, index)

    def cut(a: Strided) -> Strided:
        tiles = zipped_divide(a, threads.dims)
        return _kept(tiles, (place, (None,) * len(modes(tiles.shape[1]))))

    return over(tensor, cut, "local_partition(..)")


def _projected(parts: Any, proj: Any, construct: object) -> tuple[Any, ...]:
    """The parts where proj has no None."""
    if not is_tuple(parts) or len(parts) != len(proj) or all(p is None for p in proj):
        raise LayoutError(
            f"{construct}: proj is {short_repr(proj)}; give a tuple of as many parts as are projected, "
            "with None where one is left out"
        )
    return tuple(part for part, kept in zip(parts, proj, strict=True) if kept is not None)


def _places(coord: Any, shape: Any, construct: object) -> Any:
    """A coordinate with None for the modes that it leaves out."""
    if not is_tuple(coord) or not is_tuple(shape):
        return coord
    if len(coord) > len(shape):
        raise IndexRangeError(
            f"{construct}: {len(coord)} coordinates for {len(shape)} modes of tiles; give at most "
            "as many"
        )
    return (*coord, *[None] * (len(shape) - len(coord)))


def _kept(a: Strided, coordinate: Any) -> Strided:
    found = a(*coordinate)
    return found if isinstance(found, Strided) else Strided(1, 0, found)


def _coordinate_of(threads: Strided, index: Any) -> tuple[Any, ...]:
    """The coordinate, one number for each mode, at which a compact layout gives an index."""
    found = []
    for k in range(threads.rank):
        total: Any = 0
        below: Any = 1
        for n, d in threads.mode(k).leaves:
            if not (is_one(n) or is_zero(d)):
                total = total + times(index // d % n, below)
            below = times(below, n)
        found.append(total)
    return tuple(found)


# -- tiled copies --------------------------------------------------------------------------------


@brief
def make_layout_tv(thr_layout: Any, val_layout: Any) -> tuple[tuple[Any, ...], Strided]:
    """(the tile, the layout from (thread, value) to the tile's flat index) of threads that each
    have a block of values, side by side: CuTe's raked product, inverted.

    thr_layout, val_layout: coordinates to the thread's and the value's index.

    Raises LayoutError where either is no bijection onto its indices.

        >>> from lego_emit import cute
        >>> tiler, layout = cute.make_layout_tv("(4,8):(8,1)", "(2,2):(2,1)")
        >>> print(tiler, layout)
        (8, 16) ((8,4),(2,2)):((16,2),(8,1))
    """
    threads = as_layout(thr_layout, "make_layout_tv(..)")
    vals = as_layout(val_layout, "make_layout_tv(..)")
    construct = LazyText("make_layout_tv({!s}, {!s})", threads, vals)
    for what, each in (("thr_layout", threads), ("val_layout", vals)):
        if not each.has_inverse:
            raise LayoutError(
                f"{construct}: {what} is not a bijection onto 0..size - 1; give each index one place"
            )
    tile = raked_product(threads, vals)
    shape = Strided((threads.size, vals.size), (1, threads.size))
    return tile.dims, composition(right_inverse(tile), shape)


@dataclass(frozen=True)
class TiledCopy:
    """A tile, and which of its elements each thread moves: layout_tv maps (thread, value) to the
    tile's flat (colexicographic) index.

    atom: the instruction, whose source and destination may have other threads for an element;
    without one they have the same.

    Raises LayoutError where layout_tv has not two modes, the tile's sizes are none, or the atom does
    not fit.

        >>> from lego_emit import cute
        >>> copy = cute.make_tiled_copy("(32,8):(8,1)", "(1,4):(4,1)")
        >>> print(copy.partition("(32,32):(32,1)", 9))
        (4,1,1):(1,0,0) + 36
    """

    layout_tv: Strided
    tiler: tuple[Any, ...]
    atom: CopyAtom | None = None

    def __post_init__(self) -> None:
        construct = LazyText("TiledCopy({}, {})", self.layout_tv, self.tiler)
        found = as_layout(self.layout_tv, construct)
        if found.rank != 2:
            raise LayoutError(f"{construct}: give (thread, value) to an index of the tile")
        object.__setattr__(self, "layout_tv", found)
        object.__setattr__(self, "tiler", modes(as_shape(self.tiler, construct)))
        if self.atom is None:
            return
        if not isinstance(self.atom, CopyAtom):
            raise LayoutError(
                f"{construct}: {short_repr(self.atom)} is no CopyAtom; give one such as ldmatrix(4)"
            )
        for what, n, part in zip(
            ("threads", "values"),
            self.layout_tv.dims,
            (self.atom.threads, self.atom.values),
            strict=True,
        ):
            if not does_divide(part, n, "TiledCopy(..)"):
                raise LayoutError(
                    f"TiledCopy({self.layout_tv}): {n!r} {what} are no multiple of the atom's "
                    f"{part!r}; choose another atom or other layouts"
                )

    @property
    def size(self) -> Any:
        """How many threads take part."""
        return self.layout_tv.dims[0]

    @property
    def layout_src_tv(self) -> Strided:
        """(thread, value) of the source to the tile's flat index, the values (of an atom, atoms)."""
        return self._of(self.atom and self.atom.layout_src)

    @property
    def layout_dst_tv(self) -> Strided:
        """layout_src_tv, of the destination."""
        return self._of(self.atom and self.atom.layout_dst)

    def _of(self, side: Strided | None) -> Strided:
        if self.atom is None or side is None:
            return self.layout_tv
        atoms = zipped_divide(self.layout_tv, (self.atom.threads, self.atom.values))
        within, rest = composition(get(atoms, 0), self.atom.to_ref(side)), get(atoms, 1)
        found = make_layout(*[make_layout(get(within, k), get(rest, k)) for k in (0, 1)])
        return coalesce(found, (1, (1, 1)))

    def tidfrg(self, tensor: Any) -> Any:
        """((thread, value), (tiles of each mode)) of a tensor."""
        return self._cut(tensor, self.layout_tv)

    def tidfrg_S(self, tensor: Any) -> Any:
        """tidfrg, of the source: the values are (those of an atom, atoms) where there is one."""
        return self._cut(tensor, self.layout_src_tv)

    def tidfrg_D(self, tensor: Any) -> Any:
        """tidfrg_S, of the destination."""
        return self._cut(tensor, self.layout_dst_tv)

    def _cut(self, tensor: Any, layout_tv: Strided) -> Any:
        def cut(a: Strided) -> Strided:
            tiles = zipped_divide(a, self.tiler)
            return make_layout(
                with_offset(composition(get(tiles, 0), layout_tv), tiles.offset), get(tiles, 1)
            )

        return over(tensor, cut, "TiledCopy.tidfrg(..)")

    def partition(self, tensor: Any, thread: Any) -> Any:
        """A thread's part of a tensor: (values, tiles of each mode)."""
        return _part(self.tidfrg(tensor), thread)

    def partition_S(self, tensor: Any, thread: Any) -> Any:
        """A thread's part of the source: what it reads, ((values of an atom, atoms), tiles of each
        mode)."""
        return _part(self.tidfrg_S(tensor), thread)

    def partition_D(self, tensor: Any, thread: Any) -> Any:
        """A thread's part of the destination: what it gets, as partition_S."""
        return _part(self.tidfrg_D(tensor), thread)

    def retile(self, fragment: Any) -> Any:
        """A thread's fragment, (values, tiles of each mode) as an MMA of the same layout_tv has it,
        by the copy's own values: ((values of an atom, atoms), tiles of each mode).

        Raises LayoutError where the fragment does not hold whole tiles.
        """
        values = 1 if self.atom is None else self.atom.values

        def cut(a: Strided) -> Strided:
            held = a.dims[0]
            tile = composition(right_inverse(self.layout_tv), layout(self.tiler))
            places = upcast(tile, times(self.size, held))  # (m, n) to the fragment of a thread
            order = zipped_divide(
                logical_product(Strided(held, 1), right_inverse(places)), Strided(values, 1)
            )
            tiles = zipped_divide(a, (held, *places.dims))
            found = make_layout(composition(get(tiles, 0), order), get(tiles, 1))
            return _kept(with_offset(found, a.offset), (None, (0, *[None] * (a.rank - 1))))

        return over(fragment, cut, "TiledCopy.retile(..)")


def _part(found: Any, thread: Any) -> Any:
    return found((thread, None), (None,) * len(modes(found.shape[1])))


@brief
def make_tiled_copy(thr_layout: Any, val_layout: Any = 1, atom: Any = None) -> TiledCopy:
    """The tiled copy of threads that each move a block of values, as make_layout_tv has them.

    atom: a CopyAtom, such as ldmatrix(4); it may stand first, as in CuTe.

    Raises LayoutError where either is no bijection, or the atom does not divide them.

        >>> from lego_emit import cute
        >>> copy = cute.make_tiled_copy("(32,8):(8,1)", "(1,4):(4,1)")
        >>> copy.size
        256
        >>> print(copy.partition_S("(64,32):(32,1)", 9))
        (4,2,1):(1,1024,0) + 36
    """
    if isinstance(thr_layout, CopyAtom):
        thr_layout, val_layout, atom = val_layout, 1 if atom is None else atom, thr_layout
    tiler, layout_tv = make_layout_tv(thr_layout, val_layout)
    return TiledCopy(layout_tv, tiler, atom)


# -- tiled MMAs ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class MMAAtom:
    """An MMA instruction: its (M, N, K), and for A, B and C the layout from (thread, value) to the
    flat (colexicographic) index in (M, K), (N, K) and (M, N), as CuTe's MMA_Traits have them. Its
    threads are 0..n-1 (not Volta's quad pairs).

        >>> from lego_emit import cute, hardware
        >>> atom = cute.MMAAtom.of(*(hardware.mma(operand) for operand in "abc"))
        >>> atom.threads
        32
    """

    shape_mnk: tuple[int, int, int]
    layout_a: Any
    layout_b: Any
    layout_c: Any

    def __post_init__(self) -> None:
        construct = LazyText("MMAAtom({})", self.shape_mnk)
        sizes = modes(as_shape(self.shape_mnk, construct))
        if len(sizes) != 3 or not all(map(is_integer, sizes)):
            raise LayoutError(f"{construct}: give three integers, (M, N, K), as (16, 8, 16)")
        object.__setattr__(self, "shape_mnk", sizes)
        m, n, k = sizes
        for name, most in (("layout_a", m * k), ("layout_b", n * k), ("layout_c", m * n)):
            found = as_layout(getattr(self, name), f"MMAAtom({name})")
            if found.rank != 2 or not at_most(found.cosize, most):
                raise LayoutError(
                    f"{construct}: {name} is {found}; give (thread, value) to an index below {most}"
                )
            object.__setattr__(self, name, found)
        threads = {getattr(self, f"layout_{x}").dims[0] for x in "abc"}
        if len(threads) > 1:
            raise LayoutError(
                f"{construct}: the operands have [{listed(sorted(threads, key=str))}] threads; give each "
                "the same, with stride 0 where threads share a value"
            )

    @classmethod
    def of(cls, a: Any, b: Any, c: Any) -> MMAAtom:
        """The atom of three fragments as lego_emit.hardware has them, a of (M, K), b of (K, N) and c
        of (M, N): registers are the values, the other inputs together the thread.

        Raises LayoutError where one is no such layout, or their sizes do not agree.
        """
        (m, k), (k_of_b, n) = _matrix(a, "a"), _matrix(b, "b")
        if k_of_b != k or _matrix(c, "c") != (m, n):
            raise LayoutError(
                f"MMAAtom.of(..): a is {m} x {k}, b {k_of_b} x {n} and c "
                f"{' x '.join(map(str, _matrix(c, 'c')))}; give M x K, K x N and M x N"
            )
        turned = b.transpose_outs([*b.results][::-1])  # CuTe's B is (N, K)
        return cls((m, n, k), *(_thread_value(each) for each in (a, turned, c)))

    @property
    def threads(self) -> Any:
        """How many threads take part."""
        return self.layout_c.dims[0]


def _matrix(fragment: Any, which: str) -> tuple[int, int]:
    """The sizes of a fragment's matrix."""
    known = isinstance(fragment, LinearMap) and {REGISTER} < {*fragment.in_dims}
    if not known or len(fragment.outs) != 2:
        raise LayoutError(
            f"MMAAtom.of(..): {which} is {short_repr(fragment)}; give a layout of register and lane to two "
            f'dimensions, as hardware.mma("{which}"); MMAAtom(..) takes shapes and strides'
        )
    rows, columns = fragment.physical_dims
    return rows, columns


def _thread_value(fragment: Any) -> Strided:
    """(thread, value) to the flat index, the first dimension fastest."""
    names = [n for n in fragment.in_dims if n != REGISTER]
    values = fragment.in_dims[REGISTER]
    flat = fragment.transpose_ins([*names, REGISTER]).flatten_outs()
    return to_cute(flat.reshape_ins({"thread": flat.size // values, "value": values}))


REGISTER = "register"  # the input that counts a thread's values, in lego_emit.hardware
_MODES = {"a": (0, 2), "b": (1, 2), "c": (0, 1)}  # of (M, N, K)


def _modes_of(operand: Any) -> tuple[int, int]:
    if not isinstance(operand, str) or operand not in _MODES:
        raise LayoutError(
            f'TiledMMA: {short_repr(operand)} is not an operand; write "a", "b" or "c"'
        )
    return _MODES[operand]


@dataclass(frozen=True)
class TiledMMA:
    """Atoms repeated over warps (atom_layout_mnk), and perhaps permuted within a tile.

    >>> from lego_emit import cute, hardware
    >>> atom = cute.MMAAtom.of(*(hardware.mma(operand) for operand in "abc"))
    >>> mma = cute.make_tiled_mma(atom, (2, 2, 1))
    >>> print(mma.partition("c", "(32,16):(16,1)", 5))
    ((2,2),1,1):((1,128),0,0) + 18
    """

    atom: MMAAtom
    atom_layout_mnk: Strided
    permutation_mnk: tuple[Any, ...] = (None, None, None)

    def __post_init__(self) -> None:
        if not isinstance(self.atom, MMAAtom):
            raise LayoutError(
                f"TiledMMA({short_repr(self.atom)}, ..): it is no MMAAtom but a "
                f"{type(self.atom).__name__}; give a cute.MMAAtom(shape_mnk, layout_a, layout_b, layout_c)"
            )

    @property
    def thr_layout_vmnk(self) -> Strided:
        """(thread of the atom, atoms along M, N, K) to the thread's index."""
        return tiled_product(Strided(self.atom.threads, 1), self.atom_layout_mnk)

    @property
    def size(self) -> Any:
        """How many threads take part."""
        return self.thr_layout_vmnk.size

    @property
    def tile_mnk(self) -> tuple[Any, ...]:
        """The sizes of (M, N, K) that all threads do at once."""
        plain = [
            times(a, n) for a, n in zip(self.atom.shape_mnk, self.atom_layout_mnk.dims, strict=True)
        ]
        return tuple(
            n if p is None else size(p) for n, p in zip(plain, self.permutation_mnk, strict=True)
        )

    def thrfrg(self, operand: str, tensor: Any) -> Any:
        """(thread, (values of an atom, (atoms of each mode))) of a tensor: of (M, K) for "a", (N, K)
        for "b", (M, N) for "c"."""
        which = _modes_of(operand)
        atom = getattr(self.atom, f"layout_{operand}")
        sizes = tuple(self.atom.shape_mnk[k] for k in which)
        permuted = tuple(self.permutation_mnk[k] for k in which)
        counts = tuple(self.atom_layout_mnk.dims[k] for k in which)
        vmnk = self.thr_layout_vmnk

        def cut(a: Strided) -> Strided:
            if a.rank != 2:
                raise LayoutError(
                    f'TiledMMA.thrfrg("{operand}", {a}): {a.rank} modes; give a tensor of two'
                )
            if any(p is not None for p in permuted):
                a = composition(a, _permuted(a, permuted))
            tiles = zipped_divide(a, sizes)
            values = composition(get(tiles, 0), atom)
            rest = zipped_divide(get(tiles, 1), counts)
            places: list[Strided] = [Strided(n, 0) for n in vmnk.dims]
            places[0] = get(values, 0)
            for k, mode in enumerate(which):
                places[1 + mode] = get(rest, 0, k)
            threads = composition(make_layout(*places), right_inverse(vmnk))
            found = make_layout(threads, make_layout(get(values, 1), get(rest, 1)))
            return with_offset(found, a.offset)

        return over(tensor, cut, "TiledMMA.thrfrg(..)")

    def partition(self, operand: str, tensor: Any, thread: Any) -> Any:
        """A thread's part of a tensor: (values of an atom, atoms of each mode); CuTe's partition_A,
        partition_B and partition_C."""
        return self.thrfrg(operand, tensor)(thread, (None, (None, None)))

    def layout_tv(self, operand: str) -> Strided:
        """(thread, value) to the flat index in the tile of tile_mnk."""
        m, n = (self.tile_mnk[k] for k in _modes_of(operand))
        return self.thrfrg(operand, Strided((m, n), (1, m)))


def _permuted(a: Strided, permuted: Sequence[Any]) -> tuple[Any, ...]:
    """For each mode the permutation of a tile, the tiles one after the other."""
    found = []
    for k, p in enumerate(permuted):
        whole = Strided(a.dims[k], 1)
        found.append(whole if p is None else coalesce(logical_divide(whole, p)))
    return tuple(found)


@brief
def make_tiled_mma(
    atom: MMAAtom, atom_layout_mnk: Any = (1, 1, 1), permutation_mnk: Any = None
) -> TiledMMA:
    """Atoms repeated over warps: atom_layout_mnk is a layout of (M, N, K) to the atom's number.

    permutation_mnk: for each of M, N and K None, a size, or a layout by which a tile of that mode
    is permuted before the atoms take it.

    Raises LayoutError where atom is no MMAAtom, or atom_layout_mnk no bijection of three modes.

        >>> from lego_emit import cute, hardware
        >>> atom = cute.MMAAtom.of(*(hardware.mma(operand) for operand in "abc"))
        >>> mma = cute.make_tiled_mma(atom, (2, 2, 1))
        >>> mma.size, mma.tile_mnk
        (128, (32, 16, 16))
    """
    warps = as_layout(atom_layout_mnk, "make_tiled_mma(..)")
    construct = LazyText("make_tiled_mma(.., {!s})", warps)
    if warps.rank > 3 or not warps.has_inverse or warps.falling:
        raise LayoutError(
            f"{construct}: give a bijection of up to three modes, of (M, N, K) to the atom's number"
        )
    extra = 3 - warps.rank
    warps = Strided((*modes(warps.shape), *[1] * extra), (*modes(warps.stride), *[0] * extra))
    permuted = as_tiler(permutation_mnk, construct)
    permuted = (None,) * 3 if permuted is None else permuted
    if not is_tuple(permuted) or len(permuted) != 3:
        raise LayoutError(
            f"{construct}: {len(modes(permuted))} permutations; give one for each of M, N and K, or "
            "None"
        )
    return TiledMMA(atom, warps, permuted)


@brief
def make_tiled_copy_A(atom: CopyAtom, mma: TiledMMA) -> TiledCopy:
    """The tiled copy of an atom that gives each thread its part of the operand A, (M, K).

    >>> from lego_emit import cute, hardware
    >>> atom = cute.MMAAtom.of(*(hardware.mma(operand) for operand in "abc"))
    >>> copy = cute.make_tiled_copy_A(cute.ldmatrix(4), cute.make_tiled_mma(atom))
    >>> print(copy.partition_S("(16,16):(16,1)", 5))
    ((8,1),1,1):((1,0),0,0) + 80
    """
    return _copy_of("a", atom, mma)


@brief
def make_tiled_copy_B(atom: CopyAtom, mma: TiledMMA) -> TiledCopy:
    """make_tiled_copy_A, of the operand B, (N, K).

    >>> from lego_emit import cute, hardware
    >>> atom = cute.MMAAtom.of(*(hardware.mma(operand) for operand in "abc"))
    >>> copy = cute.make_tiled_copy_B(cute.ldmatrix(2), cute.make_tiled_mma(atom))
    >>> print(copy.partition_S("(8,16):(16,1)", 5))
    ((8,1),1,1):((1,0),0,0) + 80
    """
    return _copy_of("b", atom, mma)


@brief
def make_tiled_copy_C(atom: CopyAtom, mma: TiledMMA) -> TiledCopy:
    """make_tiled_copy_A, of the accumulator, (M, N).

    >>> from lego_emit import cute, hardware
    >>> atom = cute.MMAAtom.of(*(hardware.mma(operand, 16) for operand in "abc"))
    >>> copy = cute.make_tiled_copy_C(cute.stmatrix(2), cute.make_tiled_mma(atom))
    >>> print(copy.partition_D("(16,8):(8,1)", 5))
    ((8,1),1,1):((1,0),0,0) + 40
    """
    return _copy_of("c", atom, mma)


def _copy_of(operand: str, atom: CopyAtom, mma: TiledMMA) -> TiledCopy:
    if not isinstance(mma, TiledMMA):
        raise LayoutError(
            f"make_tiled_copy_{operand.upper()}(.., {short_repr(mma)}): give a tiled MMA, as make_tiled_mma "
            "makes it"
        )
    tiler = tuple(mma.tile_mnk[k] for k in _MODES[operand])
    return TiledCopy(mma.layout_tv(operand), tiler, atom)
