// Alignment as Rodinia's NW does it, written anew: a block of TILE threads does a tile, its scores and its
// weights in shared memory, row by row. Both arrays have (N + 1) x (N + 1) elements, columns says N + 1.
__device__ __forceinline__ void tile_of_scores(const int* weight, int* score, int columns, int penalty, int p, int q) {
  __shared__ int held[TILE + 1][TILE + 1];
  __shared__ int weights[TILE][TILE];
  const int x = threadIdx.x, corner = columns * TILE * p + TILE * q, first = corner + columns + 1 + x;
  if (x == 0) held[0][0] = score[corner];
  for (int i = 0; i < TILE; ++i) weights[i][x] = weight[first + columns * i];
  __syncthreads();
  held[x + 1][0] = score[corner + columns * (x + 1)];
  __syncthreads();
  held[0][x + 1] = score[corner + x + 1];
  __syncthreads();
  for (int m = 0; m < TILE; ++m) {
    if (x <= m) {
      const int i = m - x + 1, j = x + 1;
      held[i][j] = max(held[i - 1][j - 1] + weights[i - 1][j - 1], max(held[i][j - 1] - penalty, held[i - 1][j] - penalty));
    }
    __syncthreads();
  }
  for (int m = TILE - 2; m >= 0; --m) {
    if (x <= m) {
      const int i = TILE - x, j = x + TILE - m;
      held[i][j] = max(held[i - 1][j - 1] + weights[i - 1][j - 1], max(held[i][j - 1] - penalty, held[i - 1][j] - penalty));
    }
    __syncthreads();
  }
  for (int i = 0; i < TILE; ++i) score[first + columns * i] = held[i + 1][x + 1];
}

// The antidiagonals of tiles up to the longest one: the first, then the second ..
extern "C" __global__ void rodinia_upper(const int* weight, int* score, int columns, int penalty, int number) {
  tile_of_scores(weight, score, columns, penalty, number - 1 - blockIdx.x, blockIdx.x);
}

// Those after it: of number tiles.
extern "C" __global__ void rodinia_lower(const int* weight, int* score, int columns, int penalty, int number, int tiles) {
  tile_of_scores(weight, score, columns, penalty, tiles - 1 - blockIdx.x, tiles - number + blockIdx.x);
}
