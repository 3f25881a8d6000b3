"""What a case asks of generate() beside its text."""

TYPES = {
    "cuda": ("int32", "int64", "uint32", "uint64"),
    "hip": ("int32", "int64", "uint32", "uint64"),
    "opencl": ("int32", "int64", "uint32", "uint64"),
    "metal": ("int32", "int64", "uint32", "uint64"),
    "cpp": ("int32", "int64", "uint32", "uint64"),
    "c": ("int32", "int64", "uint32", "uint64"),
    "rust": ("int32", "int64", "uint32", "uint64"),
    "julia": ("int32", "int64", "uint32", "uint64"),
    "glsl": ("int32", "int64", "uint32", "uint64"),
    "wgsl": ("int32", "int64", "uint32", "uint64"),
    "fortran": ("int32", "int64"),
    "javascript": ("int32", "int53", "int64", "uint32", "uint64"),
    "python": ("int", "int32", "int64", "uint32", "uint64"),
    "numpy": ("int32", "int64"),
    "mlir": ("int32", "int64", "uint32", "uint64"),
    "triton": ("int32", "int64"),
}

# Types that are another of these under a name of the language's own.
OTHER_NAMES = {
    "cuda": {"size_t": "uint64"},
    "hip": {"size_t": "uint64"},
    "cpp": {"size_t": "uint64"},
    "c": {"size_t": "uint64"},
    "rust": {"usize": "uint64"},
    "fortran": {"integer": "int32"},
}


def settings(c):
    """What else generate() is given."""
    target = c.weighted(
        (6, "cuda"), (3, "fortran"), (2, "javascript"), (1, "rust"), (1, "cpp"), (1, "glsl"), (1, "julia"),
        (1, "python"), (1, "numpy"), (1, "c"), (1, "mlir"), (1, "wgsl"),
        (1, "hip"), (1, "opencl"), (1, "metal"), (1, "triton"),
    )  # fmt: skip
    return {
        "target": target,
        "index_type": "auto" if not c.chance(2, 5) else c.of(TYPES[target]),
        "base": int(c.chance(1, 8)),
        "cost": "ops" if c.chance(1, 3) else "latency",
    }


def named(text):
    """Targets from "all" or "cpp,rust". Raises ValueError."""
    if not text:
        return ()
    found = tuple(TYPES) if text == "all" else tuple(text.split(","))
    for target in found:
        if target not in TYPES:
            raise ValueError(f"no target {target!r}; there are all, {', '.join(TYPES)}")
    return found
