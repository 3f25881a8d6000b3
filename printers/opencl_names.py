"""The names that OpenCL C and its compilers have for themselves.

Reference: The OpenCL C Specification 3.0 (6.1.9 keywords, 6.3 types, 6.15 built-in functions).
"""

from itertools import product

SCALARS = "char uchar short ushort int uint long ulong float double half".split()
WIDTHS = ("2", "3", "4", "8", "16")
TYPES = [*SCALARS, *("".join(parts) for parts in product(SCALARS, WIDTHS))]

# Keywords and types beside C's, and what the text calls: a parameter of that name would hide it.
WORDS = frozenset(
    """access_qualifier bool clk_event_t clk_profiling_info cl_mem_fence_flags complex constant
    event_t false generic global image1d_array_t image1d_buffer_t image1d_t image2d_array_depth_t
    image2d_array_msaa_depth_t image2d_array_msaa_t image2d_array_t image2d_depth_t
    image2d_msaa_depth_t image2d_msaa_t image2d_t image3d_t imaginary intptr_t kernel
    kernel_enqueue_flags_t local memory_order memory_scope ndrange_t pipe private ptrdiff_t quad
    queue_t read_only read_write reserve_id_t sampler_t size_t true uintptr_t uniform vec_step
    vec_type_hint work_group_size_hint reqd_work_group_size write_only
    main min max""".split()
) | {"atomic_" + kind for kind in "int uint long ulong float double flag size_t".split()}.union(
    TYPES, ("".join(parts) for parts in product(("bool", "quad"), WIDTHS))
)

# Macros that compilers define, as far as an index might have their name.
MACROS = frozenset(
    """CHAR_BIT CHAR_MAX CHAR_MIN HUGE_VAL HUGE_VALF INFINITY INT_MAX INT_MIN LONG_MAX LONG_MIN
    MAXFLOAT MAX_WORK_DIM NAN NULL SCHAR_MAX SCHAR_MIN SHRT_MAX SHRT_MIN UCHAR_MAX UINT_MAX
    ULONG_MAX USHRT_MAX FP_ILOGB0 FP_ILOGBNAN ATOMIC_FLAG_INIT ATOMIC_VAR_INIT kernel_exec
    CLK_GLOBAL_MEM_FENCE CLK_LOCAL_MEM_FENCE CLK_IMAGE_MEM_FENCE CLK_SUCCESS""".split()
).union(
    (
        f"{kind}_{name}"
        for kind in ("FLT", "DBL", "HALF")
        for name in """DIG EPSILON MANT_DIG MAX MAX_10_EXP MAX_EXP MIN MIN_10_EXP MIN_EXP
        RADIX""".split()
    ),
    (
        f"M_{name}{end}"
        for name in """E LOG2E LOG10E LN2 LN10 PI PI_2 PI_4 1_PI 2_PI 2_SQRTPI SQRT2
        SQRT1_2""".split()
        for end in ("", "_F", "_H")
    ),
)

ROUNDINGS = ("", "_rte", "_rtz", "_rtp", "_rtn")
REAL = """cos divide exp exp10 exp2 log log10 log2 powr recip rsqrt sin sqrt tan""".split()
FETCHES = "add and max min or sub xor".split()
SCANS = ("reduce", "scan_exclusive", "scan_inclusive")

OTHERS = """abs abs_diff acos acosh acospi add_sat all any asin asinh asinpi async_work_group_copy
    async_work_group_strided_copy atan atan2 atan2pi atanh atanpi atomic_compare_exchange_strong
    atomic_compare_exchange_weak atomic_exchange atomic_flag_clear atomic_flag_test_and_set
    atomic_init atomic_load atomic_store atomic_work_item_fence barrier bit_reverse
    bitfield_extract_signed bitfield_extract_unsigned bitfield_insert bitselect
    capture_event_profiling_info cbrt ceil clamp clz copysign cos cosh cospi create_user_event cross
    ctz degrees distance dot dot_acc_sat enqueue_kernel enqueue_marker erf erfc exp exp10 exp2 expm1
    fabs fast_distance fast_length fast_normalize fdim floor fma fmax fmin fmod fract frexp
    get_default_queue get_enqueued_local_size get_enqueued_num_sub_groups get_fence get_global_id
    get_global_linear_id get_global_offset get_global_size get_group_id get_image_array_size
    get_image_channel_data_type get_image_channel_order get_image_depth get_image_dim
    get_image_height get_image_num_mip_levels get_image_num_samples get_image_width get_local_id
    get_local_linear_id get_local_size get_max_sub_group_size get_num_groups get_num_sub_groups
    get_sub_group_eq_mask get_sub_group_ge_mask get_sub_group_gt_mask get_sub_group_id
    get_sub_group_le_mask get_sub_group_local_id get_sub_group_lt_mask get_sub_group_size
    get_work_dim hadd hypot ilogb is_valid_event is_valid_reserve_id isequal isfinite isgreater
    isgreaterequal isinf isless islessequal islessgreater isnan isnormal isnotequal isordered
    isunordered ldexp length lgamma lgamma_r log log10 log1p log2 logb mad mad24 mad_hi mad_sat max
    maxmag mem_fence min minmag mix modf mul24 mul_hi nan ndrange_1D ndrange_2D ndrange_3D nextafter
    normalize popcount pow pown powr prefetch printf radians read_imagef read_imageh read_imagei
    read_imageui read_mem_fence release_event remainder remquo retain_event rhadd rint rootn rotate
    round rsqrt select set_user_event_status shuffle shuffle2 sign signbit sin sincos sinh sinpi
    smoothstep sqrt step sub_group_barrier sub_sat tan tanh tanpi tgamma to_global to_local
    to_private trunc upsample wait_group_events work_group_all work_group_any work_group_barrier
    work_group_broadcast write_imagef write_imageh write_imagei write_imageui
    write_mem_fence""".split()

# The built-in functions and the casts of 6.4.
FUNCTIONS = frozenset(OTHERS).union(
    (f"as_{kind}" for kind in (*TYPES, "size_t", "ptrdiff_t", "intptr_t", "uintptr_t")),
    (
        f"convert_{kind}{saturated}{rounding}"
        for kind, saturated, rounding in product(TYPES, ("", "_sat"), ROUNDINGS)
    ),
    (f"{kind}_{name}" for kind in ("half", "native") for name in REAL),
    (f"{kind}_{name}" for kind in ("atom", "atomic") for name in (*FETCHES, "cmpxchg", "xchg")),
    (f"{kind}_{name}" for kind in ("atom", "atomic") for name in ("inc", "dec")),
    (f"atomic_fetch_{name}{end}" for name in FETCHES for end in ("", "_explicit")),
    (f"{name}_explicit" for name in OTHERS if name.startswith("atomic_")),
    (f"dot{acc}_4x8packed_{ab}" for acc in ("", "_acc_sat") for ab in (
        "ss_int", "su_int", "us_int", "uu_uint"
    )),
    (f"work_group_{scan}_{op}" for scan in SCANS for op in ("add", "max", "min")),
    (f"sub_group_{scan}_{op}" for scan in SCANS for op in ("add", "max", "min")),
    (f"sub_group_{name}" for name in ("all", "any", "broadcast", "shuffle", "shuffle_xor")),
    (f"{kind}{half}{width}{rounding}" for kind, half, width, rounding in product(
        ("vload", "vstore"), ("", "_half", "a_half"), ("", *WIDTHS), ROUNDINGS
    )),
)  # fmt: skip
