"""Affine maps: index functions in sums, products with sizes, floordiv and mod, as MLIR has them."""
