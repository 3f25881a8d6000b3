"""What runs a copy's routine from a shared library: its wrapper in C and in C++."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lego_emit.emit.unit import Unit
from lego_emit.run.target import Target

DECLARATIONS = """
int lego_copy(int64_t rounds, const int64_t *sizes, const void *src, void *dst);
void lego_copy_bytes(const int64_t *sizes, int64_t *bytes);
void lego_memcpy(int64_t rounds, int64_t bytes, const void *src, void *dst);
void lego_threads(int64_t count);
int lego_copy_parts(const int64_t *sizes, const void *src, void *dst);
"""

BODY = """
{extern}int lego_copy(int64_t rounds, const int64_t *sizes, const void *src, void *dst) {{
  (void)sizes;
  for (int64_t k = 0; k < rounds; ++k) {{
    {scope}{name}({sizes}({T} const *)src, ({T} *)dst);
    __asm__ volatile("" : : "r"(dst) : "memory");
  }}
  return 0;
}}

{extern}void lego_copy_bytes(const int64_t *sizes, int64_t *bytes) {{
  (void)sizes;
  bytes[0] = {scope}{source_bytes}({bytes_sizes});
  bytes[1] = {scope}{destination_bytes}({bytes_sizes});
}}

{extern}void lego_memcpy(int64_t rounds, int64_t bytes, const void *src, void *dst) {{
  for (int64_t k = 0; k < rounds; ++k) {{
#ifdef _OPENMP
#pragma omp parallel
    {{
      const int64_t count = omp_get_num_threads(), own = omp_get_thread_num();
      const int64_t first = bytes / count * own;
      const int64_t last = own + 1 == count ? bytes : first + bytes / count;
      memcpy((char *)dst + first, (const char *)src + first, (size_t)(last - first));
    }}
#else
    memcpy(dst, src, (size_t)bytes);
#endif
    __asm__ volatile("" : : "r"(dst) : "memory");
  }}
}}

#ifdef _OPENMP
{extern}void lego_threads(int64_t count) {{
  omp_set_num_threads((int)count);
}}
#endif
"""

PARTS = """
{extern}int lego_copy_parts(const int64_t *sizes, const void *src, void *dst) {{
  (void)sizes;
  for (int64_t k = {scope}{parts}({bytes_sizes}); k-- > 0;) {{
    {scope}{name}_part({sizes}({T} const *)src, ({T} *)dst, k, k + 1);
  }}
  return 0;
}}
"""

WORDS = {1: "uint8_t", 2: "uint16_t", 4: "uint32_t", 8: "uint64_t"}


def wrapper(unit: Unit, in_cpp: bool) -> str:
    """The file around a unit with one copy."""
    routine: Any = unit.program.routines[0]
    sizes = [f"sizes[{k}]" for k in range(len(routine.sizes))]
    scope = f"{unit.printer.namespace}::" if in_cpp and unit.printer.namespace else ""
    T = WORDS.get(routine.element_bytes, f"{routine.name}_element")
    head = '#include "unit.h"\n#include <string.h>\n#include <stddef.h>\n#include <stdint.h>\n'
    head += "#ifdef _OPENMP\n#include <omp.h>\n#endif\n"
    if in_cpp and routine.element_bytes not in WORDS:
        T = "lego_element"
        head += f"struct lego_element {{ unsigned char bytes[{routine.element_bytes}]; }};\n"
    return head + f"{BODY}{PARTS if routine.parts else ''}".format(
        extern='extern "C" ' if in_cpp else "", scope=scope, name=routine.name, T=T,
        source_bytes=routine.functions[0], destination_bytes=routine.functions[1],
        sizes="".join(f"{s}, " for s in sizes), bytes_sizes=", ".join(sizes),
        parts=routine.parts,
    )  # fmt: skip


def apart(target: Target) -> list[str]:
    """Flags with which libraries in one process share no variable of one name, such as a table: g++ makes those of
    inline functions and templates, and inline ones, one of all libraries, that of the first."""
    return ["-fno-gnu-unique"] if Path(target.program).name.startswith("g++") else []


def build(target: Target, unit: Unit, folder: Path, flags: Sequence[str]) -> Path:
    """Compile the library; flags: of the compiler beside those that make one."""
    in_cpp = target.name == "cpp"
    (folder / "unit.h").write_text(unit.source)
    file = "copy.cpp" if in_cpp else "copy.c"
    (folder / file).write_text(wrapper(unit, in_cpp))
    library = folder / "copy.so"
    command = [target.path(), *flags, *apart(target), "-fPIC", "-shared", "-o", str(library), file]
    target.execute(command, cwd=folder)
    return library


RUST = """
mod unit;

#[derive(Clone, Copy)]
#[repr(C)]
pub struct Bytes([u8; {size}]);

impl Default for Bytes {{
    fn default() -> Self {{
        Bytes([0; {size}])
    }}
}}

/// # Safety
/// Arrays are as long as the functions of bytes say.
{mark}
pub unsafe extern "C" fn lego_copy(rounds: i64, sizes: *const i64, src: *const u8, dst: *mut u8) -> i32 {{
    let _ = sizes;
    let mut bytes = [0; 2];
    lego_copy_bytes(sizes, bytes.as_mut_ptr());
    let src = core::slice::from_raw_parts(src.cast::<{T}>(), bytes[0] as usize / {size});
    let dst = core::slice::from_raw_parts_mut(dst.cast::<{T}>(), bytes[1] as usize / {size});
    std::panic::set_hook(Box::new(|_| {{}}));
    let run = || {{
        for _ in 0..rounds {{
            {call}core::hint::black_box(src), core::hint::black_box(&mut *dst));
        }}
    }};
    i32::from(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err())
}}

/// # Safety
/// Both arrays are as long as is read and written.
{mark}
pub unsafe extern "C" fn lego_copy_bytes(sizes: *const i64, bytes: *mut i64) {{
    let _ = sizes;
    *bytes = unit::{source_bytes}({bytes_sizes}) as i64;
    *bytes.add(1) = unit::{destination_bytes}({bytes_sizes}) as i64;
}}
"""
RUST_MEMCPY = """
/// # Safety
/// Both arrays have so many bytes.
{mark}
pub unsafe extern "C" fn lego_memcpy(rounds: i64, bytes: i64, src: *const u8, dst: *mut u8) {{
    for _ in 0..rounds {{
        core::ptr::copy_nonoverlapping(core::hint::black_box(src), dst, bytes as usize);
    }}
}}
"""
RUST_PARTS = """
/// # Safety
/// Arrays are as long as the functions of bytes say.
{mark}
pub unsafe extern "C" fn lego_copy_parts(sizes: *const i64, src: *const u8, dst: *mut u8) -> i32 {{
    let mut bytes = [0; 2];
    lego_copy_bytes(sizes, bytes.as_mut_ptr());
    let src = core::slice::from_raw_parts(src.cast::<{T}>(), bytes[0] as usize / {size});
    let dst = core::slice::from_raw_parts_mut(dst.cast::<{T}>(), bytes[1] as usize / {size});
    let sizes = core::slice::from_raw_parts(sizes, {count});
    let parts: Vec<_> = unit::{name}_chunks({sizes}dst).collect();
    assert_eq!(parts.iter().map(|one| one.1.len()).sum::<usize>(), bytes[1] as usize / {size});
    for (part, own) in parts.into_iter().rev() {{
        unit::{name}_part({sizes}src, own, part);
    }}
    let _ = sizes;
    0
}}
"""
RUST_THREADS = """
use std::sync::atomic::{{AtomicI64, Ordering}};
use std::sync::Mutex;

static THREADS: AtomicI64 = AtomicI64::new(1);

{mark}
pub extern "C" fn lego_threads(count: i64) {{
    THREADS.store(count, Ordering::Relaxed);
}}

fn shared(sizes: &[i64], src: &[{T}], dst: &mut [{T}]) {{
    let _ = sizes;
    let parts = Mutex::new(unit::{name}_chunks({sizes}dst));
    let next = || parts.lock().unwrap().next();
    std::thread::scope(|scope| {{
        for _ in 0..THREADS.load(Ordering::Relaxed) {{
            scope.spawn(|| {{
                while let Some((part, own)) = next() {{
                    unit::{name}_part({sizes}src, own, part);
                }}
            }});
        }}
    }});
}}

/// # Safety
/// Both arrays have so many bytes.
{mark}
pub unsafe extern "C" fn lego_memcpy(rounds: i64, bytes: i64, src: *const u8, dst: *mut u8) {{
    let src = core::slice::from_raw_parts(src, bytes as usize);
    let dst = core::slice::from_raw_parts_mut(dst, bytes as usize);
    let own = (bytes as usize).div_ceil(THREADS.load(Ordering::Relaxed) as usize).max(1);
    for _ in 0..rounds {{
        std::thread::scope(|scope| {{
            for (to, of) in dst.chunks_mut(own).zip(core::hint::black_box(src).chunks(own)) {{
                scope.spawn(|| to.copy_from_slice(of));
            }}
        }});
    }}
}}
"""
RUST_WORDS = {1: "u8", 2: "u16", 4: "u32", 8: "u64", 16: "u128"}
RUST_FLAGS = {
    "-O2": ("-C", "opt-level=3"),
    "-ftrapv": ("-C", "overflow-checks=on"),
    "-DSIMD": ("--cfg", 'feature="simd"'),
}
MARCH = "-march="


def rust(target: Target, unit: Unit, folder: Path, flags: Sequence[str]) -> Path:
    """Compile the library of a unit in Rust; flags: those of C compilers that it has a form for."""
    routine: Any = unit.program.routines[0]
    sizes = [f"*sizes.add({k}) as usize" for k in range(len(routine.sizes))]
    listed = [f"sizes[{k}] as usize" for k in range(len(routine.sizes))]
    given = {
        "size": routine.element_bytes, "T": RUST_WORDS.get(routine.element_bytes, "Bytes"),
        "name": routine.name, "source_bytes": routine.functions[0],
        "destination_bytes": routine.functions[1], "mark": "#[no_mangle]",
    }  # fmt: skip
    text = unit.source
    if "-DLARGE=0" in flags:
        text = text.replace("const LARGE: usize = 16 << 20;", "const LARGE: usize = 0;")
    (folder / "unit.rs").write_text(text)
    own, listed = ("".join(f"{s}, " for s in some) for some in (sizes, listed))
    in_threads = routine.slices and "-fopenmp" in flags
    call = f"unit::{routine.name}({own}"
    if in_threads:
        call = f"shared(core::slice::from_raw_parts(sizes, {len(sizes)}), "
    text = RUST.format(bytes_sizes=", ".join(sizes), call=call, **given)
    for more in (RUST_THREADS if in_threads else RUST_MEMCPY, RUST_PARTS if routine.slices else ""):
        text += more.format(sizes=listed, count=len(sizes), **given)
    (folder / "copy.rs").write_text(f"#![allow(dead_code)]\n{text}")
    library = folder / "copy.so"
    words = [word for flag in flags for word in RUST_FLAGS.get(flag, ())]
    cpus = (flag.removeprefix(MARCH) for flag in flags if flag.startswith(MARCH))
    words += [word for cpu in cpus for word in ("-C", f"target-cpu={cpu}")]
    command = [target.path(), "--edition", "2021", "-D", "warnings", *words]
    target.execute([*command, "--crate-type=cdylib", "-o", str(library), "copy.rs"], cwd=folder)
    return library


FORTRAN = """
integer(c_int) function lego_copy(rounds, sizes, src, dst) bind(C)
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_int, c_int64_t, c_ptr
  use, intrinsic :: iso_fortran_env, only: {kind}
  use {module}, only: {name}, &
    {source_bytes}, &
    {destination_bytes}
  implicit none
  integer(c_int64_t), value :: rounds
  integer(c_int64_t), intent(in) :: sizes(*)
  type(c_ptr), value :: src, dst
  {T}, pointer, contiguous :: from(:), to(:)
  integer(c_int64_t) :: k
  associate (unused => sizes(1)); end associate
  call c_f_pointer(src, from, [{source_bytes}({bytes_sizes}) / {unit_bytes}])
  call c_f_pointer(dst, to, [{destination_bytes}({bytes_sizes}) / {unit_bytes}])
  do k = 1, rounds
    call {name}({sizes}from, to)
  end do
  lego_copy = 0
end function lego_copy

subroutine lego_copy_bytes(sizes, bytes) bind(C)
  use, intrinsic :: iso_c_binding, only: c_int64_t
  use {module}, only: {source_bytes}, &
    {destination_bytes}
  implicit none
  integer(c_int64_t), intent(in) :: sizes(*)
  integer(c_int64_t), intent(out) :: bytes(2)
  associate (unused => sizes(1)); end associate
  bytes(1) = {source_bytes}({bytes_sizes})
  bytes(2) = {destination_bytes}({bytes_sizes})
end subroutine lego_copy_bytes

subroutine lego_memcpy(rounds, bytes, src, dst) bind(C)
  use, intrinsic :: iso_c_binding, only: c_int64_t, c_int8_t
  !$ use omp_lib, only: omp_get_max_threads
  implicit none
  integer(c_int64_t), value :: rounds, bytes
  integer(c_int8_t), intent(in) :: src(bytes)
  integer(c_int8_t), intent(inout) :: dst(bytes)
  integer(c_int64_t) :: k, own, threads
  threads = 1
  !$ threads = omp_get_max_threads()
  do k = 1, rounds
    !$omp parallel do
    do own = 0, threads - 1
      dst(bytes * own / threads + 1:bytes * (own + 1) / threads) = &
        src(bytes * own / threads + 1:bytes * (own + 1) / threads)
    end do
    !$omp end parallel do
  end do
end subroutine lego_memcpy

subroutine lego_threads(count) bind(C)
  use, intrinsic :: iso_c_binding, only: c_int64_t
  !$ use omp_lib, only: omp_set_num_threads
  implicit none
  integer(c_int64_t), value :: count
  associate (unused => count); end associate
  !$ call omp_set_num_threads(int(count))
end subroutine lego_threads
"""
FORTRAN_TYPES = {
    1: ("integer({})", "int8"), 2: ("integer({})", "int16"), 4: ("real({})", "real32"),
    8: ("complex({})", "real32"), 16: ("complex({})", "real64"),
}  # fmt: skip


def fortran(target: Any, unit: Unit, folder: Path, flags: Sequence[str]) -> Path:
    """Compile the library of a unit in Fortran, which is handed numbers of other types where there are some."""
    routine: Any = unit.program.routines[0]
    printer: Any = unit.printer
    sizes = [f"sizes({k + 1})" for k in range(len(routine.sizes))]
    T, kind = FORTRAN_TYPES.get(routine.element_bytes, ("integer({})", "int8"))
    (folder / "unit.f90").write_text(unit.source)
    text = FORTRAN.format(
        T=T.format(kind), kind=kind, module=printer.module_name(unit.program.name), name=routine.name,
        source_bytes=routine.functions[0], destination_bytes=routine.functions[1],
        unit_bytes=routine.element_bytes if routine.element_bytes in FORTRAN_TYPES else 1,
        sizes="".join(f"{s}, &\n      " for s in sizes), bytes_sizes=", &\n    ".join(sizes),
    )  # fmt: skip
    (folder / "copy.f90").write_text(text)
    library = folder / "copy.so"
    checks = ("-fcheck=all",) if "-march=native" not in flags else ()
    strict = ["-std=f2018", "-Wall", "-Wextra", "-Werror", *checks]
    command = [target.path(), *strict, *flags, "-fPIC", "-shared", "-o", str(library)]
    target.execute([*command, "unit.f90", "copy.f90"], cwd=folder)
    return library
