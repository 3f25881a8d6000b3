// Random inputs, poison, plain references and comparisons: simple kernels that share nothing with those
// that are timed. Threads stride over their work.
typedef unsigned long long Index;

#define EACH(i, count) \
  for (Index i = blockIdx.x * Index(blockDim.x) + threadIdx.x; i < (count); i += Index(gridDim.x) * blockDim.x)

// A number of 32 bits for each index and seed (SplitMix64).
__device__ __forceinline__ unsigned random_word(Index i, Index seed) {
  Index x = i + seed * 0x9E3779B97F4A7C15ull + 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return static_cast<unsigned>((x ^ (x >> 31)) >> 32);
}

// From -1 to 1.
extern "C" __global__ void fill_uniform(float* to, Index count, Index seed) {
  EACH(i, count) to[i] = static_cast<float>(static_cast<int>(random_word(i, seed) >> 8) - (1 << 23)) * (1.0f / (1 << 23));
}

// From low on, below low + span.
extern "C" __global__ void fill_integers(int* to, Index count, Index seed, int low, int span) {
  EACH(i, count) to[i] = low + static_cast<int>(random_word(i, seed) % static_cast<unsigned>(span));
}

extern "C" __global__ void fill_words(unsigned* to, Index count, unsigned word) { EACH(i, count) to[i] = word; }

extern "C" __global__ void add_to_diagonal(float* a, Index n, float value) { EACH(i, n) a[i * n + i] += value; }

// The greatest difference that a thread finds, and the greatest value: two numbers for each.
template <class Wanted, class Of>
__device__ __forceinline__ void compare(Index count, double* found, Of of) {
  double error = 0, most = 0;
  EACH(i, count) {
    double got, wanted;
    of(i, got, wanted);
    double off = got < wanted ? wanted - got : got - wanted;
    if (!(off < 1e300)) off = 1e300;
    error = off > error ? off : error;
    const double size = wanted < 0 ? -wanted : wanted;
    most = size > most ? size : most;
  }
  const Index thread = blockIdx.x * Index(blockDim.x) + threadIdx.x;
  found[2 * thread] = error;
  found[2 * thread + 1] = most;
}

template <class Got, class Wanted>
__device__ __forceinline__ void compare_all(const Got* got, const Wanted* wanted, Index count, double* found) {
  compare<Wanted>(count, found, [=](Index i, double& a, double& b) {
    a = static_cast<double>(got[i]);
    b = static_cast<double>(wanted[i]);
  });
}

extern "C" __global__ void compare_floats(const float* got, const float* wanted, Index count, double* found) { compare_all(got, wanted, count, found); }

extern "C" __global__ void compare_integers(const int* got, const int* wanted, Index count, double* found) { compare_all(got, wanted, count, found); }

extern "C" __global__ void compare_doubles(const float* got, const double* wanted, Index count, double* found) { compare_all(got, wanted, count, found); }

// -- transposition --

extern "C" __global__ void transposed(const float* a, float* b, Index m, Index n) { EACH(i, m * n) b[i] = a[i % m * n + i / m]; }

// -- copies --

// An array of five axes in rows, of elements of some bytes, to places with a stride for each axis.
extern "C" __global__ void permuted(const unsigned char* from, unsigned char* to, Index count, int bytes, Index n0, Index n1, Index n2, Index n3, Index n4, Index s0, Index s1, Index s2, Index s3, Index s4) {
  EACH(i, count) {
    const Index e = i / bytes, at = e % n4 * s4 + e / n4 % n3 * s3 + e / n4 / n3 % n2 * s2 + e / n4 / n3 / n2 % n1 * s1 + e / n4 / n3 / n2 / n1 % n0 * s0;
    to[at * bytes + i % bytes] = from[i];
  }
}

#ifdef __CUDACC__
// -- products of 16 bits, by a GPU's own conversions --

// What a cache holds after it: the words, and none that are still to be written back.
extern "C" __global__ void read_words(const unsigned* from, Index count, unsigned* to) {
  unsigned sum = 0;
  EACH(i, count) sum += from[i];
  if (sum == 0xdeadbeef) *to = sum;
}

// The upper half of a float, or a half.
__device__ __forceinline__ float widened(unsigned short bits, int is_upper) {
  float found;
  if (is_upper) {
    found = __uint_as_float(static_cast<unsigned>(bits) << 16);
  } else {
    asm("cvt.f32.f16 %0, %1;" : "=f"(found) : "h"(bits));
  }
  return found;
}

// From -1 to 1.
extern "C" __global__ void fill_halves(unsigned short* to, Index count, Index seed, int is_upper) {
  EACH(i, count) {
    const float value = static_cast<float>(static_cast<int>(random_word(i, seed) >> 8) - (1 << 23)) * (1.0f / (1 << 23));
    if (is_upper) {
      to[i] = static_cast<unsigned short>(__float_as_uint(value) >> 16);
    } else {
      asm("cvt.rn.f16.f32 %0, %1;" : "=h"(to[i]) : "f"(value));
    }
  }
}

// c = a b^T of n x n, in float32: tiles of 32 x 32, four rows a thread. Strides: of a row and along K.
extern "C" __global__ void product_of_halves(const unsigned short* a, const unsigned short* b, float* c, Index n, Index row_a, Index along_a, Index row_b, Index along_b, int is_upper) {
  __shared__ float tile_a[32][33], tile_b[32][33];
  const Index x = threadIdx.x % 32, y = threadIdx.x / 32, tiles = n / 32;
  for (Index tile = blockIdx.x; tile < tiles * tiles; tile += gridDim.x) {
    const Index i = tile / tiles * 32, j = tile % tiles * 32;
    float sum[4] = {};
    for (Index k = 0; k < n; k += 32) {
      for (Index r = y; r < 32; r += 8) {
        tile_a[r][x] = widened(a[(i + r) * row_a + (k + x) * along_a], is_upper);
        tile_b[r][x] = widened(b[(j + r) * row_b + (k + x) * along_b], is_upper);
      }
      __syncthreads();
      for (int s = 0; s < 32; ++s)
        for (int r = 0; r < 4; ++r) sum[r] += tile_a[y + 8 * r][s] * tile_b[x][s];
      __syncthreads();
    }
    for (int r = 0; r < 4; ++r) c[(i + y + 8 * r) * n + j + x] = sum[r];
  }
}

// Integers of 4 bits, one a byte.
extern "C" __global__ void fill_int4(unsigned char* to, Index count, Index seed) {
  EACH(i, count) to[i] = static_cast<unsigned char>(random_word(i, seed) >> 28);
}

// (w - 8) scale in half precision: of n x k, a scale for each row and group of k.
extern "C" __global__ void widen_int4(const unsigned char* weights, const unsigned short* scales, unsigned short* to, Index n, Index k, Index group) {
  EACH(i, n * k) {
    const float value = static_cast<float>(weights[i] - 8) * widened(scales[i / group], 0);
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(to[i]) : "f"(value));
  }
}

// c = x w^T of m x k and n x k, in float32, nothing rounded before: tiles of 32 x 32, four rows a thread.
extern "C" __global__ void product_of_int4(const unsigned short* x, const unsigned char* weights, const unsigned short* scales, float* c, Index m, Index n, Index k, Index group) {
  __shared__ float tile_x[32][33], tile_w[32][33];
  const Index column = threadIdx.x % 32, y = threadIdx.x / 32, across = n / 32;
  for (Index tile = blockIdx.x; tile < (m + 31) / 32 * across; tile += gridDim.x) {
    const Index i = tile / across * 32, j = tile % across * 32;
    float sum[4] = {};
    for (Index begin = 0; begin < k; begin += 32) {
      for (Index r = y; r < 32; r += 8) {
        const Index at = (j + r) * k + begin + column;
        tile_x[r][column] = i + r < m ? widened(x[(i + r) * k + begin + column], 0) : 0.0f;
        tile_w[r][column] = static_cast<float>(weights[at] - 8) * widened(scales[at / group], 0);
      }
      __syncthreads();
      for (int s = 0; s < 32; ++s)
        for (int r = 0; r < 4; ++r) sum[r] += tile_x[y + 8 * r][s] * tile_w[column][s];
      __syncthreads();
    }
    for (int r = 0; r < 4; ++r)
      if (i + y + 8 * r < m) c[(i + y + 8 * r) * n + j + column] = sum[r];
  }
}

extern "C" __global__ void compare_halves(const unsigned short* got, const float* wanted, Index count, double* found, int is_upper) {
  compare<float>(count, found, [=](Index i, double& a, double& b) {
    a = static_cast<double>(widened(got[i], is_upper));
    b = static_cast<double>(wanted[i]);
  });
}
#endif

// -- alignment --

// The first row and the first column of (n + 1) x (n + 1) scores.
extern "C" __global__ void first_scores(int* score, Index n, int gap) {
  EACH(i, n + 1) score[i] = score[i * (n + 1)] = -gap * static_cast<int>(i);
}

// Weights of n x n pairs behind a row and a column of zeros.
extern "C" __global__ void with_borders(const int* weight, int* to, Index n) {
  EACH(i, (n + 1) * (n + 1)) {
    const Index row = i / (n + 1), column = i % (n + 1);
    to[i] = row && column ? weight[(row - 1) * n + column - 1] : 0;
  }
}

// The cells (i, d - i) of an antidiagonal, one thread each.
extern "C" __global__ void scores_of(const int* weight, int* score, Index n, int gap, Index d) {
  const Index low = d > n ? d - n : 1, high = d - 1 < n ? d - 1 : n;
  EACH(k, high - low + 1) {
    const Index i = low + k, j = d - i, at = i * (n + 1) + j;
    const int alone = max(score[at - n - 1], score[at - 1]) - gap;
    score[at] = max(score[at - n - 2] + weight[(i - 1) * n + j - 1], alone);
  }
}

// -- LU decomposition, in float64 and by blocks of 32 threads --

constexpr int T = 32;

extern "C" __global__ void widen(const float* from, double* to, Index count) { EACH(i, count) to[i] = from[i]; }

// The tile at the diagonal, by one block.
extern "C" __global__ void wide_diagonal(double* a, Index n, Index s) {
  const Index x = threadIdx.x;
  double* const tile = a + s * n + s;
  for (int k = 0; k < T - 1; ++k) {
    if (x > Index(k)) {
      tile[x * n + k] /= tile[k * n + k];
      for (int j = k + 1; j < T; ++j) tile[x * n + j] -= tile[x * n + k] * tile[k * n + j];
    }
    __syncthreads();
  }
}

// A column of U for each thread, and a row of L.
extern "C" __global__ void wide_perimeter(double* a, Index n, Index s) {
  const Index at = s + T * (blockIdx.x + 1) + threadIdx.x;
  const double* const tile = a + s * n + s;
  for (int k = 0; k < T; ++k) {
    for (int i = k + 1; i < T; ++i) a[(s + i) * n + at] -= tile[i * n + k] * a[(s + k) * n + at];
    a[at * n + s + k] /= tile[k * n + k];
    for (int j = k + 1; j < T; ++j) a[at * n + s + j] -= a[at * n + s + k] * tile[k * n + j];
  }
}

extern "C" __global__ void wide_inner(double* a, Index n, Index s) {
  __shared__ double l[T][T];
  __shared__ double u[T][T];
  const Index i = s + T * (blockIdx.y + 1) + threadIdx.y, j = s + T * (blockIdx.x + 1) + threadIdx.x;
  l[threadIdx.y][threadIdx.x] = a[i * n + s + threadIdx.x];
  u[threadIdx.y][threadIdx.x] = a[(s + threadIdx.y) * n + j];
  __syncthreads();
  double sum = 0;
  for (int k = 0; k < T; ++k) sum += l[threadIdx.y][k] * u[k][threadIdx.x];
  a[i * n + j] -= sum;
}

// -- stencils --

__device__ __forceinline__ Index in_bricks(Index i, Index n) {
  const Index x = i % n, y = i / n % n, z = i / n / n, m = n / 8;
  return (((z / 8 * m + y / 8) * m + x / 8) * 8 + z % 8) * 64 + y % 8 * 8 + x % 8;
}

extern "C" __global__ void to_bricks(const float* from, float* to, Index n) { EACH(i, n * n * n) to[in_bricks(i, n)] = from[i]; }

// In float64, of an array; offsets of the neighbors along z, y and x.
extern "C" __global__ void stencil(const float* from, const float* weight, const int* offsets, int points, double* to, int n, int halo) {
  EACH(i, Index(n) * n * n) {
    const int x = static_cast<int>(i % n), y = static_cast<int>(i / n % n), z = static_cast<int>(i / n / n);
    const int low = min(min(x, y), z), high = max(max(x, y), z);
    double sum = 0;
    if (low >= halo && high < n - halo) {
      for (int k = 0; k < points; ++k) {
        const Index at = (Index(z + offsets[3 * k]) * n + y + offsets[3 * k + 1]) * n + x + offsets[3 * k + 2];
        sum += static_cast<double>(weight[k]) * from[at];
      }
    }
    to[i] = sum;
  }
}

// Inside; the outermost cells must still have their poison.
extern "C" __global__ void compare_stencils(const float* got, const double* wanted, int n, int halo, int bricks, unsigned poison, double* found) {
  compare<double>(Index(n) * n * n, found, [=](Index i, double& a, double& b) {
    const int x = static_cast<int>(i % n), y = static_cast<int>(i / n % n), z = static_cast<int>(i / n / n);
    const int low = min(min(x, y), z), high = max(max(x, y), z);
    const float* const own = got + (bricks ? in_bricks(i, n) : i);
    a = static_cast<double>(*own);
    b = wanted[i];
    if (low < halo || high >= n - halo) a = *reinterpret_cast<const unsigned*>(own) == poison ? b : 2e300;
  });
}
