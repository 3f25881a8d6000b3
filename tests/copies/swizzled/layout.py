"""A tile of shared memory with NVIDIA's swizzle of 128 bytes."""

from lego_emit import Row, catalogue

copied = Row(8, 64), catalogue["nvidia.SW128"](8, 16)
element = "float16"
