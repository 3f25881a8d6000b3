"""The layouts of eight GPU puzzles, in every language."""

from lego_emit import Col, Row, TileBy, cute, symbols

M, N, K = symbols("M N K")
T = 8  # threads of a block, along each of its axes

rows, columns = Row(M, N), Col(M, N)
tiles = TileBy([M // T, N // T], [T, T]).OrderBy(Row(M, N))  # a matrix by rows, as tiles
across = TileBy([N // T, M // T], [T, T]).OrderBy(Row(N, M))  # its transpose
packed = Row(M // T, N // T, T, T)  # tiles one after the other
strips = TileBy([M, N // T], [1, T]).OrderBy(Col(M, N))  # a matrix by columns, as parts of rows

blocks = Row(N // T, T)  # a vector
left = TileBy([M // T, K // T], [T, T]).OrderBy(Row(M, K))
right = TileBy([K // T, N // T], [T, T]).OrderBy(Col(K, N))

# In shared memory: a tile whose columns are XORed with the row's number, so that neither its rows nor its
# columns share banks.
square = cute.Swizzled(cute.Swizzle(3, 0, 3), cute.layout("(8,8):(8,1)"))
