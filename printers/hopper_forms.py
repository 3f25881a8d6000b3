"""How CUDA C spells descriptors of wgmma and the calls that make TMA's maps."""

from collections.abc import Sequence

from lego_emit.cute import TensorMap, TmaSwizzle

_SWIZZLES = {
    TmaSwizzle.NONE: "NONE",
    TmaSwizzle.B32: "32B",
    TmaSwizzle.B64: "64B",
    TmaSwizzle.B128: "128B",
    TmaSwizzle.B128_ATOM_32B: "128B_ATOM_32B",
}


class CUDA:
    """Expressions and functions for wgmma and TMA."""

    @staticmethod
    def descriptor(constant: int, address: str, offset: str) -> str:
        """64 bits: the constant, and where the matrix is in units of 16 bytes."""
        return f"({constant:#x}ull + (({address} + {offset}) >> 4))"

    @staticmethod
    def encoded(
        name: str,
        sizes: Sequence[str],
        made: TensorMap,
        dims: Sequence[str],
        strides: Sequence[str],
    ) -> str:
        """A host function that makes a map; <cuda.h> declares what it calls."""
        rank, given = len(dims), "".join(f", cuuint64_t {n}" for n in sizes)
        lines = [f"inline CUresult {name}(CUtensorMap* map, void* memory{given}) {{"]
        for kind, part, values in [
            ("cuuint64_t", "dims", dims),
            ("cuuint64_t", "strides", strides or ["0"]),
            ("cuuint32_t", "box", map(str, made.box)),
            ("cuuint32_t", "steps", ["1"] * rank),
        ]:
            lines.append(f"  const {kind} {part}[] = {{{', '.join(values)}}};")
        lines += [
            f"  return cuTensorMapEncodeTiled(map, CU_TENSOR_MAP_DATA_TYPE_UINT{made.element_bits}, {rank}, memory,",
            "                                dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,",
            f"                                CU_TENSOR_MAP_SWIZZLE_{_SWIZZLES[made.swizzle]},",
            "                                CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);",
            "}",
        ]
        return "\n".join(lines)
