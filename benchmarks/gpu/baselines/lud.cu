// LU decomposition as Rodinia's LUD does it, written anew: tiles of TILE x TILE in shared memory, a thread of
// inner one element. offset says where the tile of the diagonal begins.
extern "C" __global__ void rodinia_diagonal(float* a, int n, int offset) {
  __shared__ float tile[TILE][TILE];
  const int x = threadIdx.x;
  float* const own = a + offset * n + offset;
  for (int i = 0; i < TILE; ++i) tile[i][x] = own[i * n + x];
  __syncthreads();
  for (int i = 0; i < TILE - 1; ++i) {
    if (x > i) {
      for (int j = 0; j < i; ++j) tile[x][i] -= tile[x][j] * tile[j][i];
      tile[x][i] /= tile[i][i];
    }
    __syncthreads();
    if (x > i) {
      for (int j = 0; j < i + 1; ++j) tile[i + 1][x] -= tile[i + 1][j] * tile[j][x];
    }
    __syncthreads();
  }
  for (int i = 1; i < TILE; ++i) own[i * n + x] = tile[i][x];
}

// Blocks of 2 TILE threads: one half does a tile of U, the other one of L.
extern "C" __global__ void rodinia_perimeter(float* a, int n, int offset) {
  __shared__ float diagonal[TILE][TILE];
  __shared__ float row[TILE][TILE];
  __shared__ float column[TILE][TILE];
  const bool is_row = threadIdx.x < TILE;
  const int x = is_row ? threadIdx.x : threadIdx.x - TILE, next = (blockIdx.x + 1) * TILE;
  float* const own = a + offset * n + offset;
  if (is_row) {
    for (int i = 0; i < TILE / 2; ++i) diagonal[i][x] = own[i * n + x];
    for (int i = 0; i < TILE; ++i) row[i][x] = own[i * n + next + x];
  } else {
    for (int i = TILE / 2; i < TILE; ++i) diagonal[i][x] = own[i * n + x];
    for (int i = 0; i < TILE; ++i) column[i][x] = own[(next + i) * n + x];
  }
  __syncthreads();
  if (is_row) {
    for (int i = 1; i < TILE; ++i) {
      for (int j = 0; j < i; ++j) row[i][x] -= diagonal[i][j] * row[j][x];
    }
  } else {
    for (int i = 0; i < TILE; ++i) {
      for (int j = 0; j < i; ++j) column[x][i] -= column[x][j] * diagonal[j][i];
      column[x][i] /= diagonal[i][i];
    }
  }
  __syncthreads();
  if (is_row) {
    for (int i = 1; i < TILE; ++i) own[i * n + next + x] = row[i][x];
  } else {
    for (int i = 0; i < TILE; ++i) own[(next + i) * n + x] = column[i][x];
  }
}

extern "C" __global__ void rodinia_inner(float* a, int n, int offset) {
  __shared__ float row[TILE][TILE];
  __shared__ float column[TILE][TILE];
  const int x = threadIdx.x, y = threadIdx.y;
  const int i = offset + (blockIdx.y + 1) * TILE + y, j = offset + (blockIdx.x + 1) * TILE + x;
  row[y][x] = a[(offset + y) * n + j];
  column[y][x] = a[i * n + offset + x];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < TILE; ++k) sum += column[y][k] * row[k][x];
  a[i * n + j] -= sum;
}
