"""isl: the quasi-affine function, printed by its AST generator."""

from __future__ import annotations

from functools import partial

import islpy as isl
from tree import Tree, Unsupported, constant, made, text, translated

from . import Attempt

TITLE = "isl"

Op = isl.ast_expr_op_type
OPERATIONS = {
    Op.add: "+", Op.sub: "-", Op.mul: "*", Op.minus: "neg", Op.div: "//", Op.fdiv_q: "//",
    Op.pdiv_q: "//", Op.pdiv_r: "%", Op.zdiv_r: "%", Op.min: "min", Op.max: "max",
    Op.cond: "select", Op.select: "select", Op.eq: "==", Op.lt: "<", Op.le: "<=", Op.gt: ">",
    Op.ge: ">=", Op.and_: "and", Op.or_: "or", Op.and_then: "and", Op.or_else: "or",
}  # fmt: skip


def version() -> str:
    return ".".join(map(str, isl.version.VERSION))


def attempts(problem):
    if problem.sizes:
        raise Unsupported("a product of two symbols is not quasi-affine")
    sources = translated(problem.outputs, lambda tree: str(tree.value), BUILD)
    trees = partial(_trees, problem.variables)
    return {
        TITLE: [
            Attempt(name, partial(_simplified, step, problem, sources), trees)
            for name, step in (
                ("expr_from_pw_aff", lambda e, domain: e),
                ("coalesce", lambda e, domain: e.coalesce()),
                ("gist", lambda e, domain: e.gist(domain)),
            )
        ]
    }


BUILD = {
    "+": "({} + {})".format,
    "-": "({} - {})".format,
    "*": "({} * {})".format,
    "//": "floor(({})/{})".format,
    "%": "(({}) mod {})".format,
}


def _simplified(step, problem, sources: list[str], context) -> list[isl.AstExpr]:
    names = ", ".join(problem.names)
    bounds = " and ".join(f"0 <= {n} < {text(size)}" for n, size in problem.ranges.items())
    domain = isl.Set(f"[{names}] -> {{ : {bounds} }}")
    build = isl.AstBuild.from_context(domain)
    found = []
    for source in sources:
        try:
            e = isl.PwAff(f"[{names}] -> {{ [{source}] : {bounds} }}")
        except isl.Error:
            raise Unsupported("a product of two indices is not quasi-affine") from None
        found.append(build.expr_from_pw_aff(step(e, domain)))
    return found


def _trees(variables: dict[str, Tree], results: list[isl.AstExpr]) -> tuple[Tree, ...]:
    def tree_of(e: isl.AstExpr) -> Tree:
        kind = e.get_type()
        if kind == isl.ast_expr_type.id:
            return variables[e.get_id().get_name()]
        if kind == isl.ast_expr_type.int:
            return constant(e.get_val().to_python())
        op = e.get_op_type()
        if op not in OPERATIONS:
            raise Unsupported(f"no tree for {e.to_C_str()}")
        first, *rest = (tree_of(e.get_op_arg(k)) for k in range(e.get_op_n_arg()))
        if OPERATIONS[op] == "select":
            return made("select", first, *rest)
        if not rest:
            return made(OPERATIONS[op], first)
        for tree in rest:
            first = made(OPERATIONS[op], first, tree)
        return first

    return tuple(tree_of(e) for e in results)
