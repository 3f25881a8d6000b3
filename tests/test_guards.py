"""Include guards carry a checksum of the text: a second, different file of one name is an error, the
same file is not, whatever it is included from."""

import re
import subprocess
import warnings

import pytest

from lego_emit import Col, LegoWarning, Row, copy, generate
from lego_emit.emit import registry
from lego_emit.proofcheck.languages import c_family
from lego_emit.proofcheck.launch import Divisions

STRICT = "-Wall -Wextra -Wundef -Wpedantic -Werror -fsyntax-only".split()
COMPILERS = [  # of each language with guards: the program, and its options
    ("c", "gcc", ["-x", "c", "-std=c99"]),
    ("c", "clang", ["-x", "c", "-std=c17"]),
    ("c", "g++", ["-x", "c++", "-std=c++17"]),
    ("cpp", "g++", ["-x", "c++", "-std=c++17"]),
    ("cpp", "clang++", ["-x", "c++", "-std=c++20"]),
    ("cuda", "g++", ["-x", "c++", "-std=c++17"]),
    ("cuda", "nvcc", ["-x", "cu", "-std=c++17", "-cuda", "-o", "made.ii"]),
    ("hip", "clang++", ["-x", "c++", "-std=c++17"]),
    ("opencl", "clang", ["-x", "cl", "-cl-std=CL1.2"]),
    ("metal", "clang++", ["-x", "c++", "-std=c++14", "-I."]),
    ("glsl", "glslangValidator", ["-S", "comp", "-V", "-o", "made.spv"]),
]
SHADER = (
    "#version 450\n#extension GL_GOOGLE_include_directive : require\nlayout(local_size_x = 1) in;\n"
)


def guarded():
    return [name for name in registry.targets() if registry.printer(name).guard("a")]


def test_every_language_with_guards_is_compiled_below():
    assert {target for target, *_ in COMPILERS} == {*guarded()}


@pytest.mark.slow
@pytest.mark.parametrize(("target", "program", "options"), COMPILERS)
def test_one_name_is_one_text(need, tmp_path, target, program, options):
    path = need(program, f"apt-get install {program}")
    a, b = generate(Row(4, 6), target), generate(Col(4, 6), target)
    for name, unit in {"rowl": a, "coll": b, "again": a}.items():
        (tmp_path / name).write_text(unit.source)
    (tmp_path / "metal_stdlib").write_text("namespace metal {}\n")
    strict = [] if program in ("nvcc", "glslangValidator") else STRICT
    start = SHADER if target == "glsl" else ""
    end = "void main() {}\n" if target == "glsl" else "typedef int nothing;\n"

    def said(*names):
        lines = "".join(f'#include "{name}"\n' for name in names)
        (tmp_path / "main.x").write_text(start + lines + end)
        done = subprocess.run(
            [path, *options, *strict, "main.x"], cwd=tmp_path, capture_output=True, text=True
        )
        text = done.stdout + done.stderr
        return done.returncode, text.replace("name = ", "name=")  # as glslang writes it

    for names in (["rowl"], ["rowl", "rowl"], ["rowl", "again"]):
        code, text = said(*names)
        assert not code, text
    for names in (["rowl", "coll"], ["coll", "again"]):
        code, text = said(*names)
        assert code and "give name=" in text


@pytest.mark.parametrize("target", guarded())
def test_the_checksum_is_of_the_text_alone(target):
    def checksum(layout, **options):
        text = generate(layout, target, **options).source
        (one,) = {*re.findall(r"\b0x[0-7][0-9a-f]{7}\b", text)}
        return one, text

    one, text = checksum(Row(4, 6))
    assert checksum(Row(4, 6)) == (one, text)
    assert checksum(Row(4, 6), header="Copyright")[0] == one  # what stands before the guard
    others = [Col(4, 6), Row(4, 7), Row(6, 4)]
    assert len({one, *(checksum(layout)[0] for layout in others)}) == 4


def test_a_checksum_is_read_and_nothing_like_it():
    text = generate(Col(4, 6), "cpp", name="turned").source
    c_family.read(text, "cpp", Divisions())
    for before, after in (
        (r"(#define \w+) 0x\w+", r"\1 flat"),
        (r"(#define) \w+ (0x\w+)", r"\1 A_B \2\n#define LEGO_X \2\ninline int f() { return A_B; }"),
        (r"#error.*", "inline int g() { return 1; }"),
    ):
        changed = re.sub(before, after, text)
        assert changed != text
        with pytest.raises(Exception, match=r"does not know|may be left out"):
            c_family.read(changed, "cpp", Divisions())


@pytest.mark.parametrize("target", guarded())
def test_another_file_name_is_told_once(target, tmp_path):
    unit = generate(Row(4, 6), target, name=f"told_{target}")
    ending = unit.printer.extension
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        unit.save(tmp_path / f"told_{target}{ending}")
        unit.save(tmp_path / f"told_{target}.inc")
        generate(Row(4, 6), target).save(tmp_path / f"layout{ending}")  # which GLSL reserves
        generate(Row(4, 6), target, prefix="acme_").save(tmp_path / f"layout{ending}")
        assert not told
        for _ in range(2):
            unit.save(tmp_path / f"rowl{ending}")
    (one,) = told
    assert one.category is LegoWarning and one.filename == __file__
    assert f"rowl{ending} holds the unit told_{target}" in str(one.message)
    assert "name='rowl'" in str(one.message)
    assert unit.printer.guard(unit.program.name) in str(one.message)


def test_another_file_name_of_a_copy_is_told(tmp_path):
    with pytest.warns(LegoWarning, match=r"copy\(.., name='colt'\) names it"):
        copy(Row(4, 6), Row(4, 6), "c", name="told_copy").save(tmp_path / "colt.h")


@pytest.mark.parametrize("target", ["python", "rust", "julia", "fortran", "wgsl"])
def test_no_guard_no_warning(target, tmp_path):
    unit = generate(Row(4, 6), target)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        unit.save(tmp_path / f"rowl{unit.printer.extension}")
