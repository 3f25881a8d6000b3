"""bmi2=True: pdep and pext where bits move, beside shifts and masks."""

import shutil
import subprocess
from itertools import product
from pathlib import Path

import pytest

from lego_emit import (
    GenP,
    GroupBy,
    RegP,
    Row,
    catalogue,
    generate,
)
from lego_emit.errors import TargetError
from lego_emit.lower.bmi2 import moves

CPU = Path("/proc/cpuinfo")
HAS_BMI2 = CPU.exists() and " bmi2 " in CPU.read_text()
# Layouts, and how many instructions apply and inv take.
LAYOUTS = {
    "morton.2D": (catalogue["morton.2D"](32, 32), (2, 2)),
    "morton.3D": (catalogue["morton.3D"](8, 8, 8), (3, 3)),
    "unequal": (catalogue["morton.2D"](4, 64), None),
    "fields": (GroupBy([64, 16]).OrderBy(RegP([4, 2, 8, 4, 4], [3, 1, 4, 2, 0])), None),
    "wide": (catalogue["morton.2D"](1 << 20, 1 << 20), (2, 2)),
}


def of(unit):
    return [moves(f) for f in unit.program.functions if not f.is_condition]


@pytest.mark.quick(2)
@pytest.mark.parametrize("name", LAYOUTS)
def test_moves_are_what_functions_compute(name):
    layout, instructions = LAYOUTS[name]
    unit = generate(layout, "c", name="z", bmi2=True)
    found = of(unit)
    counts = tuple(sum(len(m.instructions) for own in each for m in own) for each in found if each)
    assert instructions is None or counts == instructions
    for function, each in zip(unit.program.functions, found, strict=True):
        if each is None:
            continue
        for point in product(*({p.lo, p.hi, p.hi // 3, p.hi // 2} for p in function.params)):
            at = dict(zip((p.name for p in function.params), point, strict=True))
            moved = [
                sum(deposited(extracted([*at.values()][m.param], m.source), m.target) for m in own)
                for own in each
            ]
            assert moved == [*function.evaluate(at).values()]


def extracted(x, mask):
    places = [b for b in range(mask.bit_length()) if mask >> b & 1]
    return sum((x >> b & 1) << k for k, b in enumerate(places))


def deposited(x, mask):
    places = [b for b in range(mask.bit_length()) if mask >> b & 1]
    return sum((x >> k & 1) << b for k, b in enumerate(places))


@pytest.mark.parametrize(
    "layout",
    [
        Row(8, 16),
        GroupBy([6, 8]),
        GenP([8, 8], lambda i, j: 8 * i + (i ^ j), lambda p: (p // 8, (p // 8) ^ (p % 8))),
    ],
)
def test_what_has_no_such_form_stays(layout):
    plain, unit = (generate(layout, "c", name="z", bmi2=on).source for on in (False, True))
    assert "BMI2" not in unit and plain == unit


def test_the_text_in_c():
    source = generate(catalogue["morton.2D"](1024, 1024), "c", name="z", bmi2=True).source
    assert (
        """\
#ifdef __BMI2__
  const uint32_t i_bits = _pdep_u32((uint32_t)i, 0xaaaaa);
  const uint32_t j_bits = _pdep_u32((uint32_t)j, 0x55555);
  return (int32_t)(i_bits | j_bits);
#else
"""
        in source
    )


def test_languages_without():
    with pytest.raises(TargetError, match="choose c, cpp or rust"):
        generate(catalogue["morton.2D"](32, 32), "cuda", bmi2=True)


STRICT = [
    "-O2",
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-Wsign-conversion",
    "-Werror",
    "-fsanitize=undefined",
]


@pytest.mark.parametrize("flags", [[], ["-mbmi2"]], ids=["without", "with"])
@pytest.mark.parametrize("target", ["c", "cpp"])
def test_both_forms_are_compiled(target, flags, need, tmp_path):
    program = "gcc" if target == "c" else "g++"
    need(program, f"apt-get install {program}")
    if flags and not HAS_BMI2:
        pytest.skip("this CPU has no BMI2")
    lines, tests = [], []
    for index_type in ("int32", "int64", "uint32", "uint64"):
        for k, (name, (layout, _)) in enumerate(LAYOUTS.items()):
            if name == "wide" and index_type.endswith("32"):
                continue
            stem = f"z{k}_{index_type}"
            unit = generate(layout, target, name=stem, index_type=index_type, bmi2=True)
            path = tmp_path / f"{stem}{'.h' if target == 'c' else '.hpp'}"
            path.write_text(unit.source)
            lines.append(f'#include "{path.name}"')
            for point in product(*([0, 1, n // 3, n - 1] for n in layout.dims)):
                arguments = ", ".join(map(str, point))
                tests.append(
                    f"if ((long long){prefix(target)}{stem}_apply({arguments}) != {layout.apply(*point)}) return {k + 1};"
                )
                got = f"{prefix(target)}{stem}_inv({layout.apply(*point)})"
                for axis, value in zip("ijk", point, strict=False):
                    tests.append(f"if ((long long){got}.{axis} != {value}) return {k + 101};")
    main = tmp_path / f"main.{target}"
    main.write_text("\n".join([*lines, "int main(void) {", *tests, "return 0; }"]))
    build = [
        program,
        *STRICT,
        *flags,
        *(["-std=c++17"] if target == "cpp" else []),
        main,
        "-o",
        tmp_path / "main",
    ]
    subprocess.run(build, check=True)
    assert subprocess.run([tmp_path / "main"], check=False).returncode == 0


def prefix(target):
    return "lego::" if target == "cpp" else ""


def test_cpp_is_a_constant_expression(need, tmp_path):
    need("g++", "apt-get install g++")
    unit = generate(catalogue["morton.2D"](32, 32), "cpp", name="z", bmi2=True)
    text = (
        unit.source + "\nstatic_assert(lego::z_apply(31, 0) == 682 && lego::z_inv(682).i == 31);\n"
    )
    path = tmp_path / "z.cpp"
    path.write_text(text)
    for flags in ([], ["-mbmi2"]):
        subprocess.run(
            [
                "g++",
                "-std=c++17",
                "-Wall",
                "-Wextra",
                "-Werror",
                *flags,
                "-c",
                path,
                "-o",
                tmp_path / "z.o",
            ],
            check=True,
        )


@pytest.mark.parametrize("flags", [[], ["-C", "target-feature=+bmi2"]], ids=["without", "with"])
def test_rust_has_both_forms(flags, need, tmp_path):
    need("rustc", "see rustup.rs")
    if flags and not HAS_BMI2:
        pytest.skip("this CPU has no BMI2")
    lines, tests = [], []
    for k, (name, (layout, _)) in enumerate(LAYOUTS.items()):
        index_type = "int64" if name == "wide" else ("uint32", "int32", "usize")[k % 3]
        unit = generate(layout, "rust", name=f"z{k}", index_type=index_type, bmi2=True)
        (tmp_path / f"z{k}.rs").write_text(unit.source)
        lines.append(f"mod z{k};")
        for point in product(*([0, 1, n // 3, n - 1] for n in layout.dims)):
            arguments = ", ".join(map(str, point))
            position = layout.apply(*point)
            tests.append(f"assert_eq!(z{k}::apply({arguments}), {position});")
            whole = f"z{k}::inv({position})"
            tests.append(f'let x = {whole}; assert_eq!(format!("{{:?}}", x), "({arguments})");')
    main = tmp_path / "main.rs"
    main.write_text("\n".join([*lines, "fn main() {", *tests, "}"]))
    subprocess.run(
        ["rustc", "--edition", "2021", "-D", "warnings", *flags, main, "-o", tmp_path / "main"],
        check=True,
        cwd=tmp_path,
    )
    subprocess.run([tmp_path / "main"], check=True)
    if shutil.which("rustfmt"):
        files = sorted(tmp_path.glob("z*.rs"))
        subprocess.run(["rustfmt", "--check", "--edition", "2021", *files], check=True)
