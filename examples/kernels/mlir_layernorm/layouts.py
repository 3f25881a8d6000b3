"""A matrix, the elements of a row that each thread takes, and the tile where the threads' sums meet."""

from lego_emit import Row, symbols

R, C = symbols("R C")
THREADS = 256

X = Row(R, C)
work = Row((C + THREADS - 1) // THREADS, THREADS)
sums = Row(THREADS)
