"""Patches of an image, in the notation of einops."""

from lego_emit import Pattern

HEIGHT, WIDTH = 6, 8
P, Q = 3, 4  # a patch

patches = Pattern("(h p) (w q) -> h w p q", h=HEIGHT // P, w=WIDTH // Q, p=P, q=Q)
