"""What copies in Rust have under a crate's feature `simd`: registers of core::arch, which the default path does without.

A module of the file holds it, whose functions take slices. A kernel asserts once that its block lies in them, and reads and
writes by pointers then. Registers are read by assembler: the bytes that pad a type have no value before that.

References: https://doc.rust-lang.org/core/arch/x86_64/; https://doc.rust-lang.org/reference/inline-assembly.html.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from lego_emit.emit.nests import CopyTexts
from lego_emit.ir.nests import (
    Abilities,
    Apply,
    Before,
    Exchange,
    Fetch,
    Flag,
    Kernel,
    Let,
    Loop,
    Move,
    Vectors,
    When,
    times,
    walk,
)
from lego_emit.ir.nodes import Node, const, made, var
from lego_emit.printers import rust_layout
from lego_emit.printers.copy_rust import LINTS, PART, LinesInRust
from lego_emit.printers.rust import USIZE
from lego_emit.printers.rust_lints import allowed

ABILITIES = Abilities(calls=True, signed=False, squares=False)
VECTOR, LINE = 16, 64  # bytes of a register, and of a cache's line
WHERE = '#[cfg(all(feature = "simd", target_arch = "x86_64"))]'
AVX2, SSE2 = '#[cfg(target_feature = "avx2")]', '#[cfg(not(target_feature = "avx2"))]'
SSSE3, SSE2_ALONE = AVX2.replace("avx2", "ssse3"), SSE2.replace("avx2", "ssse3")
FEW = 2  # registers of a kernel
MOST_UNROLLED = 128  # elements of a loop that compilers unroll
INLINE = "#[inline(always)]"
WORDS = {1: "epi8", 2: "epi16", 4: "epi32", 8: "epi64"}
READ = "options(pure, readonly, nostack, preserves_flags)"


class LinesInSimd(LinesInRust):
    """The nest of a routine by registers."""

    def __init__(self, printer: Any, routine: Any, names: Any, unit: str):
        self.sizes, own = names, {n: _apart(name, "size") for n, name in names.items()}
        super().__init__(printer, replace(routine, body=routine.registers), own, unit)
        self.backs: set[str] = set()  # names of distances back to where a line begins
        self.p, self.own = "", f"{routine.name.rstrip('_')}_"

    @property
    def name(self) -> str:
        """What the routine is called there."""
        name = self.routine.name
        return f"{name}_part" if self.routine.slices else _apart(name, "copy")

    def _strides(self, kernel: Kernel) -> list[list[int]]:
        return [
            [
                k
                for k in range(len(kernel.block))
                if any(index[k] for index, _ in places)
                or (k == kernel.pair and kernel.apart(side) is None)
            ]
            for side, places in enumerate((kernel.loads, kernel.stores))
        ]

    def routine_lines(self) -> list[str]:
        """The function, which says whether it did the copy."""
        r, sizes = self.routine, [*self.names.values()]
        named = {s.name for s in walk(r.body) if isinstance(s, Let)}
        generic = self.generic.replace("Copy", "Copy + Default") if r.pads else self.generic
        T = self.type
        parameters = [*(f"{n}: usize" for n in sizes), f"src: &[{T}]", f"dst: &mut [{T}]"]
        parameters += [f"{PART}: usize"] if r.slices else []
        found = ["", "/// Copies where the sizes allow it, and returns whether it did."]
        found += allowed("", [*sizes, *sorted(named - {*sizes})], len(parameters), False)
        head = rust_layout.head(f"pub fn {self.name}{generic}", parameters, "bool")
        *before, last = r.body
        bare = all(isinstance(s, Let | Flag) for s in before)
        if isinstance(last, Vectors) and last.condition is not None and bare:
            body = [
                *self.lines(before, 4),
                f"    if {self.text(last.condition)} {{",
                *self.lines(last.body, 8),
                *("        true", "    } else {", "        false", "    }"),
            ]
        else:
            body = [*self.lines(r.body, 4), "    true"]
        return [
            *found,
            *f"{head}".split("\n"),
            *(line for t in body for line in t.split("\n")),
            "}",
        ]

    def asking(self, module: str) -> list[str]:
        """What the routine does first."""
        given = [*self.sizes.values(), "src", "dst", *([PART] if self.routine.slices else [])]
        call = f"{module}::x86_64::{self.name}({', '.join(given)})"
        return [f"    {WHERE}", f"    if {call} {{", "        return;", "    }"]

    # -- statements past the caches ------------------------------------------------------------------

    def text(self, node: Node, need: int = 0) -> str:
        """A text, in which a distance back to a line's begin is subtracted."""
        return super().text(self._forward(node), need)

    def value(self, node: Node) -> str:
        """What is laid out after a let."""
        return super().value(self._forward(node))

    def _forward(self, node: Node) -> Node:
        if not node.args:
            return node
        args = tuple(map(self._forward, node.args))
        if node.op == "add" and args[0].op == "var" and args[0].value in self.backs:
            return made("sub", args[1], args[0])
        return node.over(args)

    def before(self, s: Before, indent: int) -> list[str]:
        """How far back a line begins, as a number that is not below 0."""
        self.backs.add(s.name)
        size = self.routine.element_bytes
        at = "dst.as_ptr() as usize"
        if s.at != const(0):
            at = f"({at} + {self.text(times(s.at, size))})"
        return [f"{' ' * indent}let {s.name} = {at} % {LINE}{f' / {size}' * (size > 1)};"]

    def loop(self, s: Loop, indent: int) -> list[str]:
        """A loop; one that begins before 0, at a line, counts from there, and one of kernels stays a loop."""
        if s.rolled or _is_of_kernels(s):
            s = replace(s, stop=_rolled(s.stop))
        if s.rises:
            before, up, stop = s.start, var(f"{s.name}_up"), made("add", s.stop, s.start)
            at = made("sub", up, before)
            lets: list[Let] = [Let(up.value, made("max", var(f"{s.name}_at"), before))]
            if s.last is not None:
                at = made("select", made("lt", at, s.last), at, s.last)
            body = (*lets, Let(s.name, at), *s.body)
            s = Loop(f"{s.name}_at", stop, body, s.step)
        return super().loop(s, indent)

    def conditions(self, condition: Node | None, op: str = "land") -> list[str]:
        """The texts of conditions, without that of a multiple of 1; what falls is a multiple where its negation is."""
        if condition is not None and condition.op == "eq" and condition.args[0].op == "mod":
            of, unit = condition.args[0].args
            if unit == const(1):
                return []
            if of.op == "neg":
                condition = made("eq", made("mod", of.args[0], unit), condition.args[1])
        return super().conditions(condition, op)

    def flag(self, s: Flag, indent: int) -> list[str]:
        """A name for a condition, on the copy's bytes and the destination's address, too."""
        parts = [f"{self.text(s.large)} >= LARGE"] if s.large is not None else []
        parts += self.conditions(s.condition)
        parts += [f"is_aligned(dst, {s.aligned})"] if s.aligned > 1 else []
        return [f"{' ' * indent}let {s.name} = {' && '.join(parts)};"]

    def when(self, s: When, indent: int) -> list[str]:
        """A choice; streamed stores are waited for."""
        found = super().when(replace(s, otherwise=()), indent)
        if s.flags and any(getattr(one, "streams", False) for one in walk(s.then)):
            found.insert(-1, f"{' ' * indent}    fence();")
        if not s.otherwise:
            return found
        pad, more = " " * indent, self.lines(s.otherwise, indent)
        if len(s.otherwise) == 1 and more[0].startswith(f"{pad}if "):
            return [*found[:-1], f"{pad}}} else {more[0].lstrip()}", *more[1:]]
        return [*found[:-1], f"{pad}}} else {{", *self.lines(s.otherwise, indent + 4), f"{pad}}}"]

    def move(self, s: Move, indent: int) -> list[str]:
        """A run, past the caches where that is asked for."""
        if not s.streams:
            return super().move(s, indent)
        if s.count == const(1):
            to, of = (f"{r.array}[{self.text(r.offset)}..][..1]" for r in (s.to, s.of))
            return [f"{' ' * indent}stream(&mut {to}, &{of});"]
        before, to = self._place(s.to, s.count, "dst_at")
        more, of = self._place(s.of, s.count, "src_at")
        call = "stream" if s.count.op == "const" else "stream_lines"
        line = f"{' ' * indent}{call}(&mut {to}, &{of});"
        return [*self.lines((*before, *more), indent), line]

    def fetch(self, s: Fetch, indent: int) -> list[str]:
        """A hint for a line of a memory."""
        hint = "_MM_HINT_T1" if s.second else "_MM_HINT_T0"
        return [f"{' ' * indent}fetch::<T, {hint}>({s.at.array}, {self.text(s.at.offset)});"]

    # -- kernels -------------------------------------------------------------------------------------

    def _kernel(self, at: int, kernel: Kernel) -> list[str]:
        own, other = self._strides(kernel)
        strides = [*(f"a{k}" for k in own), *(f"b{k}" for k in other)]
        pairs = kernel.pair is not None
        apart = [self._apart(kernel, side, stem) for side, stem in enumerate("ab")]
        ways = [
            "" if not pairs else "_wide" if const(kernel.lanes) == node else "_two"
            for node in apart
        ]
        more = [
            f", {self.text(n)}" if w == "_two" else "" for n, w in zip(apart, ways, strict=True)
        ]
        pad = " " * 8
        number, given = at or "", ", ".join(["src", "dst", *strides])
        integers = [f"{n}: usize" for n in strides]

        def moved(kernel: Kernel, pairs: bool) -> list[str]:
            """What loads, exchanges and stores a block, or a pair."""
            load, store = (
                f"{stem}{w}" if pairs else stem
                for stem, w in zip(("load", "store"), ways, strict=True)
            )
            far = more if pairs else ("", "")
            found: list[str] = []
            for k, place in enumerate(kernel.loads):
                of = self._pointer("src", self._offset(place, "a", own))
                found.append(f"let x{k} = {load}({of}{far[0]});")
            for s in kernel.steps:
                found.append(f"let x{s.out} = {self._mix(s, pairs)};")
            for register, place in zip(kernel.kept, kernel.stores, strict=True):
                to = self._pointer("dst", self._offset(place, "b", other))
                found.append(f"{store}({to}{far[1]}, x{register});")
            return found

        def function(name: str, body: Sequence[str]) -> list[str]:
            """What moves a pair of blocks, or one block beside another, by pointers."""
            head = [f"src: *const {self.type}", f"dst: *mut {self.type}", *integers]
            text = rust_layout.head(f"unsafe fn {name}{number}<T>", head, "")
            found = [*text.split("\n"), "    // SAFETY: as the caller says.", "    unsafe {"]
            return [*found, *(f"{pad}{line}" for line in body), "    }", "}", "", INLINE]

        body, found = moved(kernel, pairs), ["", INLINE]
        if pairs:
            found += function("exchange", body)
            second = [self._pointer(a, n) for a, n in zip(("src", "dst"), apart, strict=True)]
            body = [f"exchange{number}({given});", SSE2]
            body.append(f"exchange{number}({', '.join([*second, *strides])});")
        if pairs and kernel.zipped is not None:
            found += function("zipped", moved(kernel.zipped, False))
            body = [SSSE3, "{", *(f"    {line}" for line in body), "}"]
            body += [SSE2_ALONE, f"zipped{number}({given});"]
        head = [f"src: &[{self.type}]", f"dst: &mut [{self.type}]", *integers]
        text = rust_layout.head(f"fn block{number}<T: Copy>", head, "")
        checks = [f"core::mem::size_of::<T>() == {VECTOR // kernel.lanes}"]
        checks += [f"{n} <= MOST_STRIDE" for n in strides]
        checks += [
            f"{self.text(self._reach(kernel, side, ks))} <= {array}.len()"
            for side, (array, ks) in enumerate((("src", own), ("dst", other)))
        ]
        found += [*text.split("\n"), *(f"    assert!({check});" for check in checks)]
        found.append("    let (src, dst) = (src.as_ptr(), dst.as_mut_ptr());")
        found += ["    // SAFETY: the last places of the block are in the slices.", "    unsafe {"]
        return [*found, *(f"{pad}{line}" for line in body), "    }", "}"]

    def _pointer(self, array: str, offset: Node) -> str:
        return array if offset == const(0) else f"{array}.add({self.text(offset)})"

    def _apart(self, kernel: Kernel, side: int, stem: str) -> Node:
        """How far apart both blocks of a pair are."""
        if kernel.pair is None:
            return const(0)
        found = kernel.apart(side)
        if found is not None:
            return const(found)
        size, stride = kernel.block[kernel.pair], var(f"{stem}{kernel.pair}")
        return stride if size == 1 else made("mul", size, stride)

    def _reach(self, kernel: Kernel, side: int, strides: Sequence[int]) -> Node:
        """How many elements there are up to the last one of a block, or a pair, on a side."""
        places = (kernel.loads, kernel.stores)[side]
        most = [max(index[k] for index, _ in places) for k in range(len(kernel.block))]
        beyond = max(place[1] for place in places) + kernel.lanes
        if kernel.pair is not None:
            apart = kernel.apart(side)
            beyond += apart or 0
            most[kernel.pair] += kernel.block[kernel.pair] if apart is None else 0
        return self._offset((most, beyond), "ab"[side], [*strides])

    def _mix(self, s: Exchange, pairs: bool) -> str:
        """A zip of halves where the exchange is one, else a mix of bytes."""
        lanes, both = s.lanes, f"x{s.x}, x{s.y}"
        for start, side in enumerate(("evens", "odds")):
            if not pairs and lanes == (*range(start, 2 * VECTOR, 2),):
                return f"{side}({both})"
        size = VECTOR // len(lanes)
        lane_bytes = [lane * size + k for lane in lanes for k in range(size)]
        for word, name in reversed(WORDS.items()):
            half = VECTOR // word // 2
            for side, start in (("lo", 0), ("hi", half)):
                zipped = [start + k // 2 + k % 2 * 2 * half for k in range(2 * half)]
                if lane_bytes == [w * word + k for w in zipped for k in range(word)]:
                    return f"zip{'_wide' * pairs}_{side}_{name}({both})"
        return f"mix{'_wide' * pairs}({both}, [{', '.join(map(str, lane_bytes))}])"


def _is_of_kernels(s: Loop) -> bool:
    """Whether it has a kernel of few registers, or loops that have one, and nothing else."""
    return all(
        (isinstance(one, Apply) and len(one.kernel.loads) <= FEW)
        or (isinstance(one, Loop) and _is_of_kernels(one))
        for one in s.body
    )


def _rolled(stop: Node) -> Node:
    """Where a loop of known length ends, which the compiler is not to know."""
    if stop.op == "add":
        return made("add", stop.args[0], _rolled(stop.args[1]))
    return (
        var(f"rolled({stop.value})") if stop.op == "const" and stop.value <= MOST_UNROLLED else stop
    )


# Each with what it calls behind it; READ stands for the options of what reads memory alone.
HELPERS = r"""
const MOST_STRIDE: usize = usize::MAX >> 10; // no place of a block is beyond usize::MAX

/// A register of what begins there, by assembler, for which all bytes in memory have a value.
#[inline(always)]
unsafe fn load<T>(at: *const T) -> __m128i {
    let v;
    // SAFETY: the caller says that there are 16 bytes.
    unsafe {
        #[cfg(target_feature = "avx")]
        asm!("vmovdqu {}, [{}]", out(xmm_reg) v, in(reg) at,
            READ);
        #[cfg(not(target_feature = "avx"))]
        asm!("movdqu {}, [{}]", out(xmm_reg) v, in(reg) at,
            READ);
    }
    v
}

#[inline(always)]
unsafe fn store<T>(at: *mut T, v: __m128i) {
    // SAFETY: the caller says that there are 16 bytes.
    unsafe { _mm_storeu_si128(at.cast(), v) };
}

/// Registers of two blocks side by side where the machine has them, else of one.
#[cfg(target_feature = "avx2")]
type Wide = __m256i;
#[cfg(not(target_feature = "avx2"))]
type Wide = __m128i;

#[cfg(target_feature = "avx2")]
#[inline(always)]
unsafe fn load_two<T>(at: *const T, apart: usize) -> Wide {
    let v;
    // SAFETY: the caller says that there are 16 bytes at both places.
    unsafe {
        let other = at.add(apart);
        asm!("vmovdqu {0:x}, [{1}]", "vinserti128 {0}, {0}, [{2}], 1",
            out(ymm_reg) v, in(reg) at, in(reg) other,
            READ);
    }
    v
}
#[cfg(not(target_feature = "avx2"))]
#[inline(always)]
unsafe fn load_two<T>(at: *const T, _apart: usize) -> Wide {
    // SAFETY: as the caller says.
    unsafe { load(at) }
}

#[inline(always)]
unsafe fn load_wide<T>(at: *const T) -> Wide {
    // SAFETY: the caller says that a register lies there.
    #[cfg(target_feature = "avx2")]
    unsafe {
        let v;
        asm!("vmovdqu {}, [{}]", out(ymm_reg) v, in(reg) at,
            READ);
        v
    }
    #[cfg(not(target_feature = "avx2"))]
    unsafe { load(at) }
}

#[inline(always)]
unsafe fn store_two<T>(at: *mut T, apart: usize, v: Wide) {
    // SAFETY: the caller says that there are 16 bytes at both places.
    #[cfg(target_feature = "avx2")]
    unsafe {
        store(at, _mm256_castsi256_si128(v));
        store(at.add(apart), _mm256_extracti128_si256::<1>(v));
    }
    #[cfg(not(target_feature = "avx2"))]
    unsafe { store(at, v) };
}

#[inline(always)]
unsafe fn store_wide<T>(at: *mut T, v: Wide) {
    // SAFETY: the caller says that a register lies there.
    #[cfg(target_feature = "avx2")]
    unsafe { _mm256_storeu_si256(at.cast(), v) };
    #[cfg(not(target_feature = "avx2"))]
    unsafe { store(at, v) };
}

/// A length that the compiler is not to know. Loads and stores that are equally far apart, as those of loops that it
/// unrolls, are slower: a prefetcher of strides asks for what is asked for anyway.
#[inline(always)]
fn rolled(length: usize) -> usize {
    core::hint::black_box(length)
}

const LARGE: usize = 16 << 20; // bytes of a copy that is written past the caches

fn is_aligned<T>(at: &[T], bytes: usize) -> bool {
    at.as_ptr().cast::<u8>().align_offset(bytes) == 0
}

/// A run past the caches, where it begins at a multiple of a register.
#[inline(always)]
fn stream<T: Copy>(to: &mut [T], of: &[T]) {
    assert!(to.len() == of.len() && 16 % core::mem::size_of::<T>() == 0);
    if !is_aligned(to, 16) {
        return to.copy_from_slice(of);
    }
    let step = 16 / core::mem::size_of::<T>();
    let whole = to.len() / step * step;
    for k in (0..whole).step_by(step) {
        // SAFETY: both slices have 16 more bytes.
        unsafe { _mm_stream_si128(to.as_mut_ptr().add(k).cast(), load(of.as_ptr().add(k))) };
    }
    if whole < to.len() {
        to[whole..].copy_from_slice(&of[whole..]);
    }
}

/// A run: up to where a line begins, whole registers past the caches, and what is left.
#[inline]
fn stream_lines<T: Copy>(to: &mut [T], of: &[T]) {
    let bytes = to.as_ptr().cast::<u8>().align_offset(64);
    let first = to.len().min(bytes / core::mem::size_of::<T>());
    if first > 0 {
        to[..first].copy_from_slice(&of[..first]);
    }
    stream(&mut to[first..], &of[first..]);
}

fn fence() {
    // SAFETY: the machine has it.
    unsafe { _mm_sfence() };
}

#[inline(always)]
fn fetch<T, const HINT: i32>(at: &[T], place: usize) {
    // SAFETY: a hint reads nothing.
    unsafe { _mm_prefetch::<HINT>(at.as_ptr().wrapping_add(place).cast()) };
}

/// Bytes of two registers, by their numbers in both.
#[inline(always)]
fn mix(x: __m128i, y: __m128i, lanes: [u8; 16]) -> __m128i {
    // SAFETY: all bits are numbers, and those of a register.
    unsafe {
        #[cfg(target_feature = "ssse3")]
        {
            let of_x: __m128i = core::mem::transmute(lanes.map(|k| k + 112)); // whose highest bit makes a zero
            let of_y: __m128i = core::mem::transmute(lanes.map(|k| k.wrapping_sub(16)));
            _mm_or_si128(_mm_shuffle_epi8(x, of_x), _mm_shuffle_epi8(y, of_y))
        }
        #[cfg(not(target_feature = "ssse3"))]
        {
            let both: [u8; 32] = core::mem::transmute([x, y]);
            core::mem::transmute(lanes.map(|k| both[k as usize]))
        }
    }
}

/// The even bytes of two registers.
#[inline(always)]
fn evens(x: __m128i, y: __m128i) -> __m128i {
    // SAFETY: the machine has it.
    unsafe {
        let low = _mm_set1_epi16(0xff);
        _mm_packus_epi16(_mm_and_si128(x, low), _mm_and_si128(y, low))
    }
}

/// The odd bytes of two registers.
#[inline(always)]
fn odds(x: __m128i, y: __m128i) -> __m128i {
    // SAFETY: the machine has it.
    unsafe { _mm_packus_epi16(_mm_srli_epi16::<8>(x), _mm_srli_epi16::<8>(y)) }
}

/// The same in both blocks.
#[inline(always)]
fn mix_wide(x: Wide, y: Wide, lanes: [u8; 16]) -> Wide {
    #[cfg(target_feature = "avx2")]
    // SAFETY: all bits are numbers, and those of a register.
    unsafe {
        let of_x: __m128i = core::mem::transmute(lanes.map(|k| k + 112));
        let of_y: __m128i = core::mem::transmute(lanes.map(|k| k.wrapping_sub(16)));
        let (of_x, of_y) = (_mm256_broadcastsi128_si256(of_x), _mm256_broadcastsi128_si256(of_y));
        _mm256_or_si256(_mm256_shuffle_epi8(x, of_x), _mm256_shuffle_epi8(y, of_y))
    }
    #[cfg(not(target_feature = "avx2"))]
    mix(x, y, lanes)
}
"""


CALLED = re.compile(
    "|".join(
        [
            *re.findall(r"(?:fn|const) (\w+)", HELPERS),
            r"(block|exchange|zipped)\d*",
            r"zip_\w+",
        ]
    )
)


def _apart(name: str, what: str) -> str:
    """A name that none of the module's own functions has."""
    return f"{name}_{what}" if CALLED.fullmatch(name) else name


def _zip(name: str) -> list[str]:
    """The exchange of the low or the high halves' words."""
    word = name.removeprefix("zip_").removeprefix("wide_")
    V = "Wide" if "wide" in name else "__m128i"
    head = [INLINE, f"fn {name}(x: {V}, y: {V}) -> {V} {{"]
    safe, own = "    // SAFETY: the machine has it.", f"    unsafe {{ _mm_unpack{word}(x, y) }}"
    if V == "__m128i":
        return [*head, safe, own, "}"]
    wide = own.replace("_mm_", "_mm256_")
    return [*head, safe, f"    {AVX2}", wide, f"    {SSE2}", own, "}"]


def _helpers(text: str) -> list[str]:
    """The functions that a text calls, and those that they call."""
    found: list[str] = []
    for item in reversed(HELPERS.strip().split("\n\n")):
        names = re.findall(r"(?:fn|type|const) ([A-Za-z]\w+)[(<:; ]", item)
        if any(re.search(rf"\b{name}\b", text) for name in names):
            item = item.replace("READ", READ)
            text, found = f"{text}\n{item}", ["", *item.split("\n"), *found]
    zips = sorted(set(re.findall(r"\bzip_\w+", text)))
    return [*found, *(line for name in zips for line in ("", *_zip(name)))]


def in_module(parts: Sequence[LinesInSimd], name: str) -> list[str]:
    """The module of a file's routines."""
    kernels = list(dict.fromkeys(k for part in parts for k in part.kernels))
    body: list[str] = []
    for part in parts:
        part.kernels = kernels
    for at, kernel in enumerate(kernels):
        body += parts[0]._kernel(at, kernel)
    found = [
        "use core::arch::asm;",
        "use core::arch::x86_64::*;",
    ]
    for part in parts:
        body += [*part.box_lines(), *part.routine_lines()]
    found += [*_helpers("\n".join(body)), *body]
    lints = "dead_code, unused_unsafe, unused_variables, clippy::cast_ptr_alignment, clippy::inline_always"
    head = [
        "",
        "/// Registers of the machine, where a crate turns on a feature `simd` of its own.",
        LINTS,
        "#[rustfmt::skip]",
        f"mod {name} {{",
        f"    {WHERE}",
        "    #[allow(clippy::many_single_char_names, clippy::too_many_lines, clippy::wildcard_imports)]",
        f"    #[allow({lints})]",
        "    pub mod x86_64 {",
    ]
    lines = (line for text in found for line in text.split("\n"))
    return [*head, *(f"        {line}".rstrip() for line in lines), "    }", "}"]


class CopiesInRust(CopyTexts):
    """What a file's template has of its copies."""

    own = ("own", "boxes")
    lines_of = LinesInRust
    index_type = USIZE
    abilities = Abilities(
        streams=False, pairs=False, fetches=False, calls=True, signed=False, long=(2,)
    )
    asked = ABILITIES
    has_slices = has_parts = True

    def __init__(self, printer: Any, program: Any):
        super().__init__(printer, program)
        generic = [part for part in self.parts if part.routine.value is None]
        self.leads = [*generic[:1], *(p for p in self.parts if p.routine.value is not None)]
        shared = list(dict.fromkeys(k for part in generic for k in part.kernels))
        for part in generic if len(generic) > 1 else ():
            part.kernels, part.p = shared, f"{program.name.rstrip('_')}_"
        module, own = f"{program.name.rstrip('_')}_simd", list[LinesInSimd]()
        for part in self.parts:
            if part.routine.registers:
                own.append(LinesInSimd(printer, part.routine, part.names, part.unit))
                part.asked = own[-1].asking(module)
        self.module = in_module(own, module) if own else []

    @property
    def lines(self) -> list[str]:
        """The helpers, which are of any type unless they change elements, and the routines."""
        helpers = (line for part in self.leads for line in part.helpers())
        own = (line for p in self.parts for line in (*p.box_lines(), *p.routine_lines()))
        return [*helpers, *self.module, *own]
