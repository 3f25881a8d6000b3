// A matrix transposed as transposeNaive, transposeCoalesced and transposeNoBankConflicts of NVIDIA's
// cuda-samples do it, written anew: tiles of 32 x 32, blocks of 32 x 16 threads. a is height x width.
constexpr int TILE = 32, ROWS = 16;  // TILE_DIM, BLOCK_ROWS

extern "C" __global__ void sdk_naive(const float* a, float* b, int width, int height) {
  const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  for (int i = 0; i < TILE; i += ROWS) b[x * height + y + i] = a[(y + i) * width + x];
}

template <int PITCH>
__device__ __forceinline__ void through_a_tile(const float* a, float* b, int width, int height) {
  __shared__ float tile[TILE][PITCH];
  const int from = (blockIdx.y * TILE + threadIdx.y) * width + blockIdx.x * TILE + threadIdx.x;
  const int to = (blockIdx.x * TILE + threadIdx.y) * height + blockIdx.y * TILE + threadIdx.x;
  for (int i = 0; i < TILE; i += ROWS) tile[threadIdx.y + i][threadIdx.x] = a[from + i * width];
  __syncthreads();
  for (int i = 0; i < TILE; i += ROWS) b[to + i * height] = tile[threadIdx.x][threadIdx.y + i];
}

extern "C" __global__ void sdk_coalesced(const float* a, float* b, int width, int height) { through_a_tile<TILE>(a, b, width, height); }

extern "C" __global__ void sdk_padded(const float* a, float* b, int width, int height) { through_a_tile<TILE + 1>(a, b, width, height); }
