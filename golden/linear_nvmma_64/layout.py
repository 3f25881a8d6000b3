"""A tile in shared memory with the 64-byte swizzle of wgmma and TMA."""

from lego_emit import hardware

layout = hardware.nvmma_shared(16, swizzle=64)
