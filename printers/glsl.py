"""GLSL: functions to put into a shader of version 450 core or newer, for OpenGL or Vulkan.

Reference: The OpenGL Shading Language 4.60, https://registry.khronos.org/OpenGL/specs/gl/
(5.9 expressions: % is undefined for a negative operand, and nothing says which way / rounds one,
so the helpers divide magnitudes; 4.1.3: + - and * wrap; >> extends the sign).
"""

from dataclasses import replace

from lego_emit.emit.printer import BREAK
from lego_emit.printers.c_array import ArrayForm, free
from lego_emit.printers.c_family import HeaderPrinter
from lego_emit.printers.c_lines import guard
from lego_emit.printers.shaders import SHADER_OPS, VECTOR_SIZES, ShaderPrinter

FLOOR_DIV = """
// The quotient rounded down; of the least integer no opposite is taken.
{{ T }} {{ unit }}_floor_div({{ T }} a, {{ T }} b) {
  u{{ T }} m = a < 0 ? u{{ T }}(-(a + 1)) + 1u : u{{ T }}(a);
  u{{ T }} n = b < 0 ? u{{ T }}(-(b + 1)) + 1u : u{{ T }}(b);
  return a == 0 || (a < 0) == (b < 0) ? {{ T }}(m / n) : -1 - {{ T }}((m - 1u) / n);
}
"""

FLOOR_MOD = """
// The remainder of the quotient rounded down, with the divisor's sign; of the least integer no
// opposite is taken.
{{ T }} {{ unit }}_floor_mod({{ T }} a, {{ T }} b) {
  u{{ T }} m = a < 0 ? u{{ T }}(-(a + 1)) + 1u : u{{ T }}(a);
  u{{ T }} n = b < 0 ? u{{ T }}(-(b + 1)) + 1u : u{{ T }}(b);
  u{{ T }} r = m % n;
  if (r != 0u && (a < 0) != (b < 0)) r = n - r;
  return b < 0 ? -{{ T }}(r) : {{ T }}(r);
}
"""

ISQRT = """
// The square root rounded down, two bits of n at a time.
{{ T }} {{ unit }}_isqrt({{ T }} n) {
  {{ T }} root = 0;
  for ({{ T }} bit = {{ "1 << 30" if "32" in index_type else "1L << 62" }}; bit != 0; bit >>= 2) {
    if (n >= root + bit) {
      n -= root + bit;
      root = (root >> 1) + bit;
    } else {
      root >>= 1;
    }
  }
  return root;
}
"""

KEYWORDS = """
    const uniform buffer shared attribute varying coherent volatile restrict readonly writeonly
    atomic_uint layout centroid flat smooth noperspective patch sample invariant precise break
    continue do for while switch case default if else subroutine in out inout int void bool true
    false float double discard return uint lowp mediump highp precision struct
    common partition active asm class union enum typedef template this resource goto inline
    noinline public static extern external interface long short half fixed unsigned superp input
    output hvec2 hvec3 hvec4 fvec2 fvec3 fvec4 filter sizeof cast namespace using sampler3DRect
    main VULKAN
"""

# Families: every spelling of vectors, matrices, samplers, images and Vulkan's textures.
VECTORS = {f"{p}vec{n}" for p in ("", "b", "d", "i", "u", "i64", "u64", "f16") for n in "234"}
MATRICES = {f"{p}mat{n}" for p in ("", "d") for n in "234"} | {
    f"{p}mat{n}x{m}" for p in ("", "d") for n in "234" for m in "234"
}
SHAPES = """1D 1DArray 2D 2DArray 2DRect 2DMS 2DMSArray 3D Cube CubeArray Buffer""".split()
OPAQUE = {
    f"{p}{kind}{shape}"
    for p in ("", "i", "u")
    for kind in ("sampler", "image", "texture")
    for shape in SHAPES
}
SHADOWS = {
    f"sampler{shape}Shadow" for shape in "1D 1DArray 2D 2DArray 2DRect Cube CubeArray".split()
}
VULKAN_TYPES = {"sampler", "samplerShadow"} | {
    f"{p}subpassInput{ms}" for p in ("", "i", "u") for ms in ("", "MS")
}
EXTENDED_TYPES = {f"{p}int{n}_t" for p in ("", "u") for n in (8, 16, 32, 64)} | {
    f"float{n}_t" for n in (16, 32, 64)
}

# The functions of chapter 8 whose names a layout's functions might have; redeclaring one hides it
# from the rest of the shader.
BUILT_INS = frozenset(
    """abs acos acosh all any asin asinh atan atanh barrier bitCount bitfieldExtract
    bitfieldInsert bitfieldReverse ceil clamp cos cosh cross degrees determinant distance dot
    equal exp exp2 faceforward findLSB findMSB floor fma fract frexp greaterThan
    greaterThanEqual intBitsToFloat inverse inversesqrt isinf isnan ldexp length lessThan
    lessThanEqual log log2 matrixCompMult max memoryBarrier min mix mod modf normalize not
    notEqual outerProduct pow radians reflect refract round roundEven sign sin sinh smoothstep
    sqrt step tan tanh transpose trunc uintBitsToFloat""".split()
)


# 7.1, and GL_KHR_shader_subgroup's.
VARIABLES = frozenset(
    """gl_DrawID gl_FragCoord gl_GlobalInvocationID gl_InstanceID gl_InstanceIndex gl_InvocationID
    gl_Layer gl_LocalInvocationID gl_LocalInvocationIndex gl_NumSubgroups gl_NumWorkGroups
    gl_PrimitiveID gl_SampleID gl_SubgroupID gl_SubgroupInvocationID gl_SubgroupSize gl_VertexID
    gl_VertexIndex gl_ViewportIndex gl_WorkGroupID gl_WorkGroupSize""".split()
)

UNSIGNED = frozenset(
    """gl_GlobalInvocationID gl_LocalInvocationID gl_LocalInvocationIndex gl_NumSubgroups gl_NumWorkGroups
    gl_SubgroupID gl_SubgroupInvocationID gl_SubgroupSize gl_WorkGroupID gl_WorkGroupSize""".split()
)

VECTOR_TYPES = {"int32": "ivec", "int64": "i64vec", "uint32": "uvec", "uint64": "u64vec"}


class GlslPrinter(ShaderPrinter):
    """GLSL's spellings: C's operators without a cast, helpers for negative operands."""

    loops = "lego_emit.printers.loop_forms:PLAIN"
    switches = "lego_emit.printers.switch_forms:GLSL"
    copies = "lego_emit.printers.copy_shaders:CopiesInGlsl"
    name = "glsl"
    related = ("opengl", "vulkan", "spirv", "webgl")
    title = "GLSL"
    extension = ".glsl"
    declaration = "{T} {name} = {expr};"
    types = {"int32": "int", "int64": "int64_t", "uint32": "uint", "uint64": "uint64_t"}
    declared_types = {**types, "bool": "bool"}
    ops = SHADER_OPS
    helpers = {"floor_div": FLOOR_DIV, "floor_mod": FLOOR_MOD, "isqrt": ISQRT}
    template = "glsl.jinja"
    constant = "const {T} {name} = {value};"
    reserved = (
        frozenset(KEYWORDS.split())
        | {"min", "max"}  # a parameter of that name would hide what the text calls
        | VECTORS
        | MATRICES
        | OPAQUE
        | SHADOWS
        | VULKAN_TYPES
        | EXTENDED_TYPES
    )
    reserved_functions = BUILT_INS
    builtins = VARIABLES
    unsigned = UNSIGNED
    workers = "work items of a group"
    outputs_are_variables = True
    vectors = {index_type: f"{kind}{{n}}" for index_type, kind in VECTOR_TYPES.items()}
    shared, struct_guard = HeaderPrinter.shared, HeaderPrinter.struct_guard

    def legal_name(self, name):
        """Names that begin with gl_ are GLSL's own."""
        legal = super().legal_name(name)
        return f"v_{legal}" if legal.lower().startswith("gl_") else legal

    def literal(self, value, index_type):
        """A literal with the suffix of its type."""
        suffix = {"int32": "", "int64": "L", "uint32": "u", "uint64": "UL"}[index_type]
        if value == self.index_types[index_type].least < 0:
            return f"(-{-(value + 1)}{suffix} - 1)"  # -x is an operator on x, and that x is too big
        return f"{value}{suffix}"

    def table(self, entries, index_type):
        """The declaration of a constant array."""
        kind = f"{self.types[index_type]}[{len(entries)}]"
        lines = self.entry_lines(entries, index_type, 4)
        return f"const {kind} {entries.name} = {kind}(\n{lines});"

    def op(self, node, view):
        """The spelling; a shift's distance and a place in a table stay 32 bits wide."""
        op = super().op(node, view)
        if view.index_type.endswith("64") and node.op == "lookup":
            return replace(op, text=op.text.replace("{1}", "int({1})"))
        if view.index_type.endswith("64") and node.op in ("shl", "shr"):
            by = node.args[1]
            distance = str(by.value) if by.op == "const" else "int({1})"
            return replace(op, text=op.text.replace("{1}", distance), needs=(op.needs[0], 0))
        return op

    def unit_scope(self, unit):
        """The names that the file defines beside its functions: the include guard."""
        return {self.guard(unit)}

    def guard(self, unit: str) -> str:
        """The macro that keeps a file from being included twice."""
        return guard(unit, self.extension)

    def unit_mark(self, unit):
        """The include guard, as a message names it."""
        return f"the include guard {self.guard(unit)}"

    def accessors(self, function):
        """The functions that read and write fields of words."""
        from lego_emit.printers.shaders_packed import GlslFields

        return [*GlslFields(self, function).lines()]

    def head(self, function, array: ArrayForm | None = None) -> str:
        """The head of a function, or of its array form; several results are out parameters."""
        f = function
        parameters = self.parameters_of(f, "{T} {name}", array)
        several = self.gives_several(f)
        if several:
            parameters += [f"out {T} {name}" for name, T in f.typed_outputs]
        name = self.array_name(f.name) if array else f.name
        return f"{'void' if several else f.result_type} {name}({f',{BREAK}'.join(parameters)})"

    def gives_several(self, function):
        """Whether results are out parameters."""
        return len(function.outputs) > 1 and function.aggregate is None

    def group_parameter(self, form, group, T):
        """An array's size stands after its name."""
        if group.open:
            return super().group_parameter(form, group, T)
        size = "" if group.struct else f"[{len(group.members)}]"
        return form.format(name=f"{group.name}{size}", T=group.struct or T)

    def loop(self, function, array, call):
        """Results are out arguments where there are several."""
        f, n, T = function, array.names["n"], function.T
        start, stride = f"{T}(gl_LocalInvocationIndex)", array.names["stride"]
        sizes = " * ".join(f"gl_WorkGroupSize.{axis}" for axis in "xyz")
        if not self.gives_several(f):
            call = f"results[{n}] = {call}"
        else:
            call = f"{call[:-1]}, {', '.join(f'{name}[{n}]' for name, _ in f.outputs)})"
        head = f"for ({T} {n} = {start}; {n} < {array.plain_count}; {n} += {stride})"
        own = f"const {T} {stride} = {T}({sizes});"
        return [("  ", own), ("  ", head), ("    ", f"{call};")]

    def array_form(self, function):
        """With a name for the number of work items."""
        return ArrayForm(self, function, ("n", "stride"))

    def overload(self, function):
        """(names, head, lines) of the overload that takes two to four indices as one vector, or gives
        them; None where there is none. names: of what is a vector."""
        f, vector = function, VECTOR_TYPES[function.index_type]
        indices = [p.name for p in f.passed if p.axis]
        first = [p.name for p in f.passed if not p.axis]
        results = [name for name, _ in f.outputs]
        gathers = len(indices) in VECTOR_SIZES and [p.name for p in f.passed] == first + indices
        gives = len(results) in VECTOR_SIZES and not f.named
        if any(g.whole for g in f.groups) or f.aggregate is not None:
            return None
        if f.axes or f.tables or not (gathers or gives) or not (gives or len(results) == 1):
            return None
        taken = {p.name for p in f.passed}
        names, parameters, arguments = [], [f"{f.T} {name}" for name in first], [*first]
        if gathers:
            index = free("index", taken)
            taken.add(index)
            names.append(f"({', '.join(indices)})")
            parameters.append(f"{vector}{len(indices)} {index}")
            arguments += [f"{index}.{axis}" for axis, _ in zip("xyzw", indices, strict=False)]
        else:
            parameters += [f"{f.T} {name}" for name in indices]
            arguments += indices
        kind, result = f.T, free("result", taken)
        if gives:
            kind = f"{vector}{len(results)}"
            names.append(f"({', '.join(results)})")
            arguments += [f"{result}.{axis}" for axis, _ in zip("xyzw", results, strict=False)]
        call = f"{f.name}({f',{BREAK}'.join(arguments)});"
        lines = [f"{kind} {result};", call, f"return {result};"] if gives else [f"return {call}"]
        head = f"{kind} {f.name}({f',{BREAK}'.join(parameters)}) {{"
        return names, self.line(head, 0), [self.line(line, 2) for line in lines]

    def extensions(self, functions) -> str:
        """What the header says of 64-bit integers, where there are any."""
        if not any("64" in kind for f in functions for kind in (f.index_type, *f.declared)):
            return ""
        return (
            " and\n// #extension GL_ARB_gpu_shader_int64 : require"
            " (Vulkan: GL_EXT_shader_explicit_arithmetic_types_int64)"
        )
