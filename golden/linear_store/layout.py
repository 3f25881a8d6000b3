"""An mma accumulator to its offset in swizzled shared memory."""

from lego_emit import hardware

layout = hardware.mma("c").compose(hardware.swizzled(16, 8, vec=2, per_phase=2, max_phase=4))
