"""One file per toolchain: find it, compile a unit, run its functions over arrays."""
