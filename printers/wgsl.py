"""WGSL: functions to put into a shader module, for WebGPU.

Reference: WebGPU Shading Language, https://www.w3.org/TR/WGSL/ (8.19 operator precedence: the
operands of shifts and bit operations are unary expressions, && and || do not mix, and a < b >> c
begins a list of templates; 8.7 / and % truncate, + - and * wrap, and nothing traps when it runs, so
that what `select` discards may be anything; 16.1 and 16.2: keywords and reserved words).
"""

from dataclasses import replace

from lego_emit.emit.printer import BREAK, FunctionView, call, infix
from lego_emit.ir.index_types import INT64
from lego_emit.ir.nodes import Node
from lego_emit.printers.c_array import ArrayForm
from lego_emit.printers.c_family import UNARY
from lego_emit.printers.shaders import SHADER_OPS, ShaderPrinter

SUM = SHADER_OPS["add"].prec

FLOOR_DIV = """
/// The quotient rounded down.
fn {{ unit }}_floor_div_{{ T }}(a: {{ T }}, b: {{ T }}) -> {{ T }} {
  let q = a / b;
  return select(q, q - 1, (a < 0) != (b < 0) && q * b != a);
}
"""

FLOOR_MOD = """
/// The remainder of the quotient rounded down: it has the divisor's sign.
fn {{ unit }}_floor_mod_{{ T }}(a: {{ T }}, b: {{ T }}) -> {{ T }} {
  let r = a % b;
  return select(r, r + b, r != 0 && (r < 0) != (b < 0));
}
"""

ISQRT = """
/// The square root rounded down, two bits of n at a time.
fn {{ unit }}_isqrt_{{ T }}(n: {{ T }}) -> {{ T }} {
  var rest = n;
  var root: {{ T }} = 0;
  for (var bit: {{ T }} = 1 << {{ "30u" if "32" in index_type else "62u" }}; bit != 0; bit >>= 2u) {
    if (rest >= root + bit) {
      rest -= root + bit;
      root = (root >> 1u) + bit;
    } else {
      root >>= 1u;
    }
  }
  return root;
}
"""

KEYWORDS = """
    alias break case const const_assert continue continuing default diagnostic discard else enable
    false fn for if let loop override requires return struct switch true var while
"""

RESERVED = """
    NULL Self abstract active alignas alignof as asm asm_fragment async attribute auto await become
    cast catch class co_await co_return co_yield coherent column_major common compile
    compile_fragment concept const_cast consteval constexpr constinit crate debugger decltype delete
    demote demote_to_helper do dynamic_cast enum explicit export extends extern external fallthrough
    filter final finally friend from fxgroup get goto groupshared highp impl implements import inline
    instanceof interface layout lowp macro macro_rules match mediump meta mod module move mut mutable
    namespace new nil noexcept noinline nointerpolation non_coherent noncoherent noperspective null
    nullptr of operator package packoffset partition pass patch pixelfragment precise precision
    premerge priv protected pub public readonly ref regardless register reinterpret_cast require
    resource restrict self set shared sizeof smooth snorm static static_assert static_cast std
    subroutine super target template this thread_local throw trait try type typedef typeid typename
    typeof union unless unorm unsafe unsized use using varying virtual volatile wgsl where with
    writeonly yield
"""

# A parameter of that name would hide what the text calls.
USED = frozenset("i32 u32 i64 u64 min max select array vec2 vec3 vec4".split())

# What the language declares itself and a layout's functions might be called; declaring one hides it
# from the rest of the module.
PREDECLARED = frozenset(
    """abs acos acosh all any arrayLength asin asinh atan atan2 atanh atomicAdd atomicAnd
    atomicExchange atomicLoad atomicMax atomicMin atomicOr atomicStore atomicSub atomicXor bitcast
    ceil clamp cos cosh countLeadingZeros countOneBits countTrailingZeros cross degrees determinant
    distance dot dot4I8Packed dot4U8Packed dpdx dpdy exp exp2 extractBits faceForward
    firstLeadingBit firstTrailingBit floor fma fract frexp fwidth insertBits inverseSqrt ldexp length
    log log2 mix modf normalize pow quantizeToF16 radians reflect refract reverseBits round saturate
    sign sin sinh smoothstep sqrt step storageBarrier tan tanh textureBarrier textureDimensions
    textureLoad textureSample textureStore transpose trunc workgroupBarrier workgroupUniformLoad
    array atomic bool f16 f32 ptr sampler sampler_comparison
    function handle private read read_write storage uniform workgroup write""".split()
)
VECTORS = {f"vec{n}{T}" for n in "234" for T in ("", "f", "h", "i", "u")}
MATRICES = {f"mat{n}x{m}{T}" for n in "234" for m in "234" for T in ("", "f", "h")}

# 13.3: built-in values that are u32 or vec3<u32>, by the names that one gives them.
UNSIGNED = frozenset(
    """global_invocation_id instance_index local_invocation_id local_invocation_index num_workgroups
    sample_index sample_mask vertex_index workgroup_id""".split()
)

SUFFIXES = {"int32": "", "int64": "li", "uint32": "u", "uint64": "lu"}


class WgslPrinter(ShaderPrinter):
    """WGSL's spellings: C's operators with the parentheses that its grammar wants."""

    loops = "lego_emit.printers.loop_forms:WGSL"
    switches = "lego_emit.printers.switch_forms:WGSL"
    copies = "lego_emit.printers.copy_shaders:CopiesInWgsl"
    name = "wgsl"
    related = ("webgpu",)
    title = "WGSL"
    extension = ".wgsl"
    doc = "///"
    workers = "invocations of a workgroup"
    declaration = "let {name}: {T} = {expr};"
    types = {"int32": "i32", "int64": "i64", "uint32": "u32", "uint64": "u64"}
    unsigned_first = True  # wgpu's i64(u32) keeps a sign
    declared_types = {**types, "bool": "bool"}
    ops = {
        **SHADER_OPS,
        **{op: infix(sign, 11, UNARY, UNARY) for op, sign in (("shl", "<<"), ("shr", ">>"))},
        **{
            op: infix(sign, 10, SUM, SUM)
            for op, sign in (
                ("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">="), ("eq", "=="), ("ne", "!="),
            )
        },
        **{
            op: infix(sign, 8, UNARY, UNARY)
            for op, sign in (("and", "&"), ("xor", "^"), ("or", "|"))
        },
        "land": infix("&&", 5, 5, 10),
        "lor": infix("||", 4, 10, 10),
        "select": call(f"select({{2}},{BREAK}{{1}},{BREAK}{{0}})", 3),
    }  # fmt: skip
    helpers = {
        f"{name}_{T}": text
        for T in types.values()
        for name, text in (("floor_div", FLOOR_DIV), ("floor_mod", FLOOR_MOD), ("isqrt", ISQRT))
    }
    template = "wgsl.jinja"
    constant = "const {name}: {T} = {value};"
    reserved = frozenset(KEYWORDS.split()) | frozenset(RESERVED.split()) | USED
    reserved_functions = PREDECLARED | VECTORS | MATRICES
    unsigned = UNSIGNED
    angles = True
    vectors = {index_type: f"vec{{n}}<{T}>" for index_type, T in types.items()}

    def group_type(self, group, T):
        """The name of a struct or a vector, or the array."""
        return group.struct or f"array<{T}, {len(group.members)}>"

    def struct_lines(self, group, types):
        """The definition of a struct."""
        fields = (f"  {name}: {T}," for name, T in zip(group.fields, types, strict=True))
        return [f"struct {group.struct} {{", *fields, "}"]

    def fit(self, node, function):
        """An unsigned number has no minus."""
        if node.op == "neg" and function.index_type.least == 0:
            return replace(node, op="sub", args=(Node("const", (), 0, 0, 0), *node.args))
        return super().fit(node, function)

    def literal(self, value, index_type):
        """A literal with the suffix of its type; without one it is what its place wants."""
        if index_type == "int64" and value == INT64.least:
            return f"({value + 1}li - 1li)"  # -x is an operator on x, and that x is too big
        return f"{value}{SUFFIXES[index_type]}"

    def table(self, entries, index_type):
        """The declaration of a constant array."""
        lines = self.entry_lines(entries, index_type, 4)
        kind = f"array<{self.types[index_type]}, {len(entries)}>"
        return f"const {entries.name} = {kind}(\n{lines});"

    def op(self, node, view):
        """The spelling; a shift's distance is a u32, a place in a table has 32 bits, and helpers
        have the type in their names: there are no overloads."""
        op = super().op(node, view)
        if op.helper is not None:
            helper = f"{op.helper}_{view.T}"
            return replace(op, text=op.text.replace(op.helper, helper), helper=helper)
        if view.index_type.endswith("64") and node.op == "lookup":
            return replace(op, text=op.text.replace("{1}", "u32({1})"))
        if view.index_type != "uint32" and node.op in ("shl", "shr"):
            by = node.args[1]
            distance = f"{by.value}u" if by.op == "const" else "u32({1})"
            return replace(op, text=op.text.replace("{1}", distance), needs=(op.needs[0], 0))
        return op

    def companions(self, name):
        """The array form's name, and the struct's of several results."""
        return super().companions(name) | {self.result_name(name)}

    def accessors(self, function: FunctionView) -> list[str]:
        """The functions that read and write fields of words."""
        from lego_emit.printers.shaders_packed import WgslFields

        return [*WgslFields(self, function).lines()]

    def head(self, function: FunctionView, array: ArrayForm | None = None) -> str:
        """The head of a function, or of its array form."""
        f = function
        parameters = f",{BREAK}".join(self.parameters_of(f, "{name}: {T}", array))
        name = self.array_name(f.name) if array else f.name
        return f"fn {name}({parameters}) -> {f.result_type}"

    def value(self, function: FunctionView) -> str:
        """What a function returns."""
        texts = function.texts()
        made = f"{function.result_type}({f',{BREAK}'.join(texts)})"
        return made if function.several else texts[0]

    def loop(self, function, array, call):
        """The index and the size of the workgroup are the shader's own to name."""
        n, T = array.names["n"], function.T
        head = (
            f"for (var {n} = {T}(local_index); {n} < {array.plain_count}; {n} += workgroup_size) {{"
        )
        return [("  ", head), ("    ", f"results[{n}] = {call};"), ("  ", "}")]

    def features(self, functions) -> str:
        """What the header says of 64-bit integers, where there are any."""
        wide = any("64" in kind for f in functions for kind in (f.index_type, *f.declared))
        return " i64 and u64 are wgpu's own (SHADER_INT64): browsers have neither." * wide
