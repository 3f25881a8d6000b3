// Stencils of SIZE^3 cells, a thread a cell, nothing kept along z; the weights in the order of the kernels of
// examples/kernels/bricks, the outermost HALO cells only read.
constexpr int HALO = 8, EDGE = 8;

struct Array {
  static __device__ __forceinline__ int at(int z, int y, int x) { return (z * SIZE + y) * SIZE + x; }
};

struct Bricks {
  static __device__ __forceinline__ int at(int z, int y, int x) {
    const int brick = ((z / EDGE) * (SIZE / EDGE) + y / EDGE) * (SIZE / EDGE) + x / EDGE;
    return ((brick * EDGE + z % EDGE) * EDGE + y % EDGE) * EDGE + x % EDGE;
  }
};

template <class Cells, int R>
__device__ __forceinline__ void cube(const float* __restrict__ from, const float* __restrict__ weight, float* __restrict__ to, int z, int y, int x) {
  float sum = 0;
#pragma unroll
  for (int b = -R; b <= R; ++b) {
#pragma unroll
    for (int c = -R; c <= R; ++c) {
#pragma unroll
      for (int a = -R; a <= R; ++a) sum += *weight++ * from[Cells::at(z + a, y + b, x + c)];
    }
  }
  to[Cells::at(z, y, x)] = sum;
}

template <class Cells, int R>
__device__ __forceinline__ void star(const float* __restrict__ from, const float* __restrict__ weight, float* __restrict__ to, int z, int y, int x) {
  float sum = *weight++ * from[Cells::at(z, y, x)];
#pragma unroll
  for (int a = -R; a <= R; ++a) {
    if (a == 0) continue;
    sum += *weight++ * from[Cells::at(z + a, y, x)];
    sum += *weight++ * from[Cells::at(z, y + a, x)];
    sum += *weight++ * from[Cells::at(z, y, x + a)];
  }
  to[Cells::at(z, y, x)] = sum;
}

// Rows by neighboring threads, as one writes it by hand.
#define ROW_MAJOR(kind, R)                                                                                              \
  extern "C" __global__ void row_major_##kind##_##R(const float* __restrict__ from, const float* __restrict__ weight,   \
                                                    float* __restrict__ to) {                                           \
    const int x = HALO + blockIdx.x * blockDim.x + threadIdx.x, y = HALO + blockIdx.y * blockDim.y + threadIdx.y;       \
    const int z = HALO + blockIdx.z * blockDim.z + threadIdx.z;                                                         \
    if (z < SIZE - HALO && y < SIZE - HALO && x < SIZE - HALO) kind<Array, R>(from, weight, to, z, y, x);               \
  }

// Blocks of 8 x 8 x 8 threads whose first number goes along z, as the kernels of the paper have it: neighbors
// are SIZE^2 cells apart in an array, and 64 in a brick.
#define PAPER(kind, R, layout, Cells)                                                                                   \
  extern "C" __global__ void paper_##layout##_##kind##_##R(const float* __restrict__ from,                              \
                                                           const float* __restrict__ weight, float* __restrict__ to) {  \
    const int z = HALO + blockIdx.x * EDGE + threadIdx.x, y = HALO + blockIdx.y * EDGE + threadIdx.y;                   \
    kind<Cells, R>(from, weight, to, z, y, HALO + blockIdx.z * EDGE + threadIdx.z);                                     \
  }

#define ALL(kind, R) ROW_MAJOR(kind, R) PAPER(kind, R, array, Array) PAPER(kind, R, bricks, Bricks)
ALL(star, 1)
ALL(star, 2)
ALL(star, 3)
ALL(star, 4)
ALL(cube, 1)
ALL(cube, 2)
