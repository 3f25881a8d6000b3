"""A 32x64 tile of f16 in shared memory, swizzled for ldmatrix (Definition 4.11)."""

from lego_emit import hardware

layout = hardware.swizzled(32, 64, vec=8, per_phase=1, max_phase=8)
