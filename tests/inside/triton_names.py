"""Kernels whose file calls triton.language something else, and one whose own name is tl, before Triton's compiler; its
interpreter takes no such file."""

import traceback
from pathlib import Path

import triton
import triton.language as lang
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import lego_emit
from lego_emit import Col, Row


@lego_emit.jit
@triton.jit
def other_name(x, y, M, N: lang.constexpr):
    i = lang.program_id(0)
    lang.store(y + Row(M, N)[i, :], lang.load(x + Col(M, N)[i, :]))


@lego_emit.jit
@triton.jit
def own_name(x, y, M, N: lang.constexpr):
    tl = lang.program_id(0)
    lang.store(y + Row(M, N)[0, :], lang.load(x + Col(M, N)[0, :]) + tl)


@lego_emit.jit
@triton.jit
def wrong(x, y, M, N: lang.constexpr):
    L = Row(
        M,
        N,
    )
    p = lang.program_id(0)
    lang.store(y + L[p, :], lang.load(x + L[p, :]) + "text")  # wrong


def compiled(kernel):
    kinds = {"x": "*fp32", "y": "*fp32", "M": "i32", "N": "constexpr"}
    source = ASTSource(kernel, kinds, constexprs={(3,): 8})
    return triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["ptx"]


def main() -> None:
    for kernel in (other_name, own_name):
        print(
            kernel.fn.__name__,
            kernel.lego.source.count("lang.arange(0, N)"),
            "st.global" in compiled(kernel),
        )
    lines = Path(__file__).read_text().splitlines()
    begin, end = (
        next(k for k, one in enumerate(lines, 1) if mark in one)
        for mark in ("def wrong", "# wrong")
    )
    try:
        compiled(wrong)
    except triton.CompilationError as error:
        print(
            "line",
            begin - 1 + error.node.lineno == end,
            traceback.format_exc().count("# wrong") > 0,
        )


if __name__ == "__main__":
    main()
