"""Weights of four bits with a sign, eight in a word: rows of a matrix one after the other."""

from lego_emit import Packed, Row, symbols

M, K = symbols("M K")
layout = Packed(Row(M, K), 4, word=32, signed=True)
assume = ["K % 8 == 0"]
sizes = {"M": 4, "K": 24}
