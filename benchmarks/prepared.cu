// Whole index functions whose divisors are known at launch: by divisions, by prepared numbers, by hand.
// benchmarks/prepared puts the emitted headers before this text.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Shape {
  int dims[4], strides[4];
};

struct Lattice {
  int X[4], parity;
};

// What one would write by hand for dividends below 2^31 and divisors from 2 on.
struct Magic {
  unsigned mul, shift;
  int by;
  explicit Magic(int d) : shift(0), by(d) {
    while ((1ll << shift) < d) ++shift;
    mul = static_cast<unsigned>(((1ull << (31 + shift)) + d - 1) / d);
    --shift;
  }
  __device__ int quotient(int n) const { return static_cast<int>(__umulhi(n, mul) >> shift); }
};

__device__ int total(int value) { return value; }
__device__ int total(long long value) { return static_cast<int>(value); }
__device__ int total(unsigned value) { return static_cast<int>(value); }
__device__ int total(int4 v) { return v.x + 3 * v.y + 5 * v.z + 7 * v.w; }

// -- candle's strided index of rank 4 -------------------------------------------------------------

#define STRIDED(T) \
  T d0, d1, d2, d3, s0, s1, s2, s3; \
  using Index = T; \
  using Result = T; \
  explicit TITLE(Shape s) \
      : d0(s.dims[0]), d1(s.dims[1]), d2(s.dims[2]), d3(s.dims[3]), s0(s.strides[0]), \
        s1(s.strides[1]), s2(s.strides[2]), s3(s.strides[3]) {}
#define PREPARED(T, sizes_of) \
  sizes_of##_sizes sizes; \
  T s0, s1, s2, s3; \
  using Index = T; \
  using Result = T; \
  explicit TITLE(Shape s) \
      : sizes(sizes_of##_prepare(s.dims[0], s.dims[1], s.dims[2], s.dims[3])), s0(s.strides[0]), \
        s1(s.strides[1]), s2(s.strides[2]), s3(s.strides[3]) {}

#define TITLE PlainInt64
struct PlainInt64 {
  STRIDED(long long)
  __device__ long long operator()(long long i) const {
    return plain_i64(i, d0, d1, d2, d3, s0, s1, s2, s3);
  }
};
#undef TITLE
#define TITLE PlainInt32
struct PlainInt32 {
  STRIDED(int)
  __device__ int operator()(int i) const { return plain_i32(i, d0, d1, d2, d3, s0, s1, s2, s3); }
};
#undef TITLE
#define TITLE PlainUint32
struct PlainUint32 {
  STRIDED(unsigned)
  __device__ unsigned operator()(unsigned i) const {
    return plain_u32(i, d0, d1, d2, d3, s0, s1, s2, s3);
  }
};
#undef TITLE
#define TITLE PreparedInt32
struct PreparedInt32 {
  PREPARED(int, prepared_i32)
  __device__ int operator()(int i) const { return prepared_i32(sizes, i, s0, s1, s2, s3); }
};
#undef TITLE
#define TITLE PreparedUint32
struct PreparedUint32 {
  PREPARED(unsigned, prepared_u32)
  __device__ unsigned operator()(unsigned i) const { return prepared_u32(sizes, i, s0, s1, s2, s3); }
};
#undef TITLE
#define TITLE PreparedInt64
struct PreparedInt64 {
  PREPARED(long long, prepared_i64)
  __device__ long long operator()(long long i) const {
    return prepared_i64(sizes, i, s0, s1, s2, s3);
  }
};
#undef TITLE

struct RolledLoop {  // over arrays of a rank that is known when it runs
  unsigned long long dims[4], strides[4];
  int rank = 4;
  using Index = unsigned;
  using Result = unsigned;
  explicit RolledLoop(Shape s) {
    for (int k = 0; k < 4; ++k) dims[k] = s.dims[k], strides[k] = s.strides[k];
  }
  __device__ unsigned operator()(unsigned i) const {
    unsigned found = 0;
    for (int k = rank - 1; k >= 0; --k) {
      found += (i % dims[k]) * strides[k];
      i /= dims[k];
    }
    return found;
  }
};

struct StridedByHand {
  Magic m0, m1, m2, m3;
  int s0, s1, s2, s3;
  using Index = int;
  using Result = int;
  explicit StridedByHand(Shape s)
      : m0(s.dims[0]), m1(s.dims[1]), m2(s.dims[2]), m3(s.dims[3]), s0(s.strides[0]),
        s1(s.strides[1]), s2(s.strides[2]), s3(s.strides[3]) {}
  __device__ int operator()(int i) const {
    const int a = m3.quotient(i), b = m2.quotient(a), c = m1.quotient(b), d = m0.quotient(c);
    return (i - a * m3.by) * s3 + (a - b * m2.by) * s2 + (b - c * m1.by) * s1 + (c - d * m0.by) * s0;
  }
};

// -- QUDA's coordinates of a checkerboard index ----------------------------------------------------

struct CoordsPlain {
  Lattice l;
  using Index = int;
  using Result = int4;
  explicit CoordsPlain(Lattice l) : l(l) {}
  __device__ int4 operator()(int i) const {
    const auto r = coords(i, l.X[0], l.X[1], l.X[2], l.parity);
    return make_int4(r.x0, r.x1, r.x2, r.x3);
  }
};

struct CoordsPrepared {
  coords_prepared_sizes sizes;
  int parity;
  using Index = int;
  using Result = int4;
  explicit CoordsPrepared(Lattice l)
      : sizes(coords_prepared_prepare(l.X[0], l.X[1], l.X[2])), parity(l.parity) {}
  __device__ int4 operator()(int i) const {
    const auto r = coords_prepared(sizes, i, parity);
    return make_int4(r.x0, r.x1, r.x2, r.x3);
  }
};

struct CoordsByHand {
  Magic h, m1, m2;
  int parity;
  using Index = int;
  using Result = int4;
  explicit CoordsByHand(Lattice l) : h(l.X[0] / 2), m1(l.X[1]), m2(l.X[2]), parity(l.parity) {}
  __device__ int4 operator()(int i) const {
    const int a = h.quotient(i), b = m1.quotient(a), t = m2.quotient(b);
    const int y = a - b * m1.by, z = b - t * m2.by;
    return make_int4(2 * (i - a * h.by) + ((y + z + t + parity) & 1), y, z, t);
  }
};

// -- counting, checking, timing -------------------------------------------------------------------

#define WAYS(way) \
  way(PlainInt64) way(PlainInt32) way(PlainUint32) way(RolledLoop) way(PreparedInt32) \
  way(PreparedUint32) way(PreparedInt64) way(StridedByHand) way(CoordsPlain) way(CoordsPrepared) \
  way(CoordsByHand)

#define COUNTED(Way) \
  extern "C" __global__ void count_##Way(Way way, Way::Index i, Way::Result *out) { *out = way(i); }
WAYS(COUNTED)

template <class Way>
__global__ void tabulate(Way way, int n, int *out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = total(way(static_cast<typename Way::Index>(i)));
}

template <class Way>
__global__ void repeat(Way way, int turns, int *out) {
  const int start = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
  int sum = 0;
#pragma unroll 4
  for (int k = 0; k < turns; ++k) sum += total(way(static_cast<typename Way::Index>(start + k * step)));
  out[start] = sum;
}

#define CALL(call) \
  if (cudaError_t error = call) { \
    std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error)); \
    std::exit(1); \
  }

constexpr int BLOCKS = 1056, THREADS = 256, TURNS = 1024, TABLE = 1 << 20, TIMES = 30;

template <class Way, class Sizes>
void measure(const char *name, Sizes sizes, std::vector<int> &expected) {
  const Way way(sizes);
  int *out;
  CALL(cudaMalloc(&out, TABLE * sizeof(int)));
  tabulate<<<TABLE / THREADS, THREADS>>>(way, TABLE, out);
  std::vector<int> found(TABLE);
  CALL(cudaMemcpy(found.data(), out, TABLE * sizeof(int), cudaMemcpyDeviceToHost));
  if (expected.empty()) expected = found;
  if (found != expected) {
    std::fprintf(stderr, "%s differs\n", name);
    std::exit(1);
  }
  cudaEvent_t begin, end;
  CALL(cudaEventCreate(&begin));
  CALL(cudaEventCreate(&end));
  std::vector<float> taken;
  for (int k = 0; k < TIMES + 3; ++k) {
    CALL(cudaEventRecord(begin));
    repeat<<<BLOCKS, THREADS>>>(way, TURNS, out);
    CALL(cudaEventRecord(end));
    CALL(cudaEventSynchronize(end));
    float milliseconds;
    CALL(cudaEventElapsedTime(&milliseconds, begin, end));
    if (k >= 3) taken.push_back(milliseconds);
  }
  CALL(cudaGetLastError());
  std::sort(taken.begin(), taken.end());
  const double count = static_cast<double>(BLOCKS) * THREADS * TURNS;
  std::printf("%s %.6f %.6f %.6f\n", name, taken[TIMES / 2] * 1e9 / count, taken.front() * 1e9 / count,
      taken.back() * 1e9 / count);
  CALL(cudaFree(out));
}

int main(int argc, char **argv) {
  // Of numbers that the compiler does not know.
  const int more = argc > 1 ? std::atoi(argv[1]) : 0;
  const Shape shape{{7 + more, 12 + more, 65 + more, 200 + more}, {156000, 13000, 200, 1}};
  const Lattice lattice{{24 + 2 * more, 24 + more, 48 + more, 96 + more}, 1};
  std::vector<int> strided, coordinates;
#define STRIDED_WAY(Way) measure<Way>(#Way, shape, strided);
#define COORDS_WAY(Way) measure<Way>(#Way, lattice, coordinates);
  STRIDED_WAY(PlainInt32)
  STRIDED_WAY(PlainUint32)
  STRIDED_WAY(PlainInt64)
  STRIDED_WAY(RolledLoop)
  STRIDED_WAY(PreparedInt32)
  STRIDED_WAY(PreparedUint32)
  STRIDED_WAY(PreparedInt64)
  STRIDED_WAY(StridedByHand)
  COORDS_WAY(CoordsPlain)
  COORDS_WAY(CoordsPrepared)
  COORDS_WAY(CoordsByHand)
}
