"""A tile in shared memory with the 128-byte swizzle of wgmma and TMA."""

from lego_emit import hardware

layout = hardware.nvmma_shared(16, swizzle=128)
