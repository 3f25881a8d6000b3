"""Entries of so many bits as is known at run time, in longs: one may go on in the next."""

from lego_emit import Packed, Row, symbols

N, bits = symbols("N bits")
layout = Packed(Row(N), bits, word=64)
assume = ["1 <= bits", "bits <= 32"]
sizes = {"N": 100, "bits": 5}
