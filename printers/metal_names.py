"""The names that Metal and its library have for themselves.

Reference: Metal Shading Language Specification (2 types, 4 address spaces, 5 function attributes,
6 library).
"""

from lego_emit.printers.c_names import STDINT
from lego_emit.printers.opencl_names import MACROS

SCALARS = "bool char uchar short ushort int uint long ulong half bfloat float".split()
VECTORS = [f"{packed}{kind}{n}" for packed in ("", "packed_") for kind in SCALARS for n in "234"]
MATRICES = [f"{kind}{n}x{m}" for kind in ("half", "float") for n in "234" for m in "234"]

# Keywords and types beside C++'s.
WORDS = frozenset(
    """as_type constant device fragment intersection kernel mesh metal object object_data patch
    ptrdiff_t ray_data simd size_t stitchable thread threadgroup threadgroup_imageblock vertex
    visible""".split()
).union(SCALARS, VECTORS, MATRICES, MACROS, STDINT)

# Functions and types of the library: `using namespace metal;` puts them beside the file's functions.
FUNCTIONS = frozenset(
    """abs absdiff acos acosh addsat all any array array_ref asin asinh atan atan2 atanh
    atomic atomic_thread_fence atomic_compare_exchange_weak_explicit atomic_exchange_explicit
    atomic_fetch_add_explicit atomic_fetch_and_explicit atomic_fetch_max_explicit
    atomic_fetch_min_explicit atomic_fetch_or_explicit atomic_fetch_sub_explicit
    atomic_fetch_xor_explicit atomic_load_explicit atomic_store_explicit ceil clamp clz copysign cos
    cosh cospi cross ctz depth2d determinant dfdx dfdy discard_fragment distance distance_squared
    divide dot exp exp10 exp2 extract_bits fabs faceforward fdim floor fma fmax fmax3
    fmedian3 fmin fmin3 fmod fract frexp fwidth hadd ilogb imageblock insert_bits isfinite isinf
    isnan isnormal isordered isunordered ldexp length length_squared log log10 log2 mad24 madhi
    madsat matrix max max3 median3 min min3 mix modf mul24 mulhi nan nextafter normalize not
    pack_float_to_snorm2x16 pack_float_to_snorm4x8 pack_float_to_unorm2x16 pack_float_to_unorm4x8
    packed_vec popcount pow powr quad_all quad_any quad_ballot quad_broadcast quad_max quad_min
    quad_product quad_shuffle quad_sum reflect refract reverse_bits rhadd rint rotate round
    rsqrt sampler saturate select sign signbit simd_all simd_any simd_ballot simd_broadcast
    simd_max simd_min simd_prefix_exclusive_sum simd_prefix_inclusive_sum simd_product simd_shuffle
    simd_shuffle_down simd_shuffle_up simd_shuffle_xor simd_sum simdgroup_barrier sin sincos sinh
    sinpi smoothstep sqrt step subsat tan tanh tanpi texture1d texture2d texture3d texturecube
    threadgroup_barrier transpose trunc unpack_snorm2x16_to_float unpack_snorm4x8_to_float
    unpack_unorm2x16_to_float unpack_unorm4x8_to_float vec""".split()
)
