// What the instructions do, from the figures of the PTX ISA: "ldmatrix", and "Matrix Fragments for
// mma.m16n8k16". All threads of a block call them together.
#pragma once

#include <cuda_fp16.h>

#include <cstring>

#include "host.hpp"

constexpr unsigned LANES = 32, MOST = 1024;

inline const __half* rows[MOST];
inline __half held_a[MOST][4][2], held_b[MOST][2][2];

inline void load_matrices(unsigned& r0, unsigned& r1, unsigned& r2, unsigned& r3, const __half* row) {
  const unsigned lane = threadIdx.x % LANES, warp = threadIdx.x - lane;
  unsigned* const registers[] = {&r0, &r1, &r2, &r3};
  rows[threadIdx.x] = row;
  __syncthreads();
  for (unsigned r = 0; r < 4; ++r) {
    std::memcpy(registers[r], rows[warp + 8 * r + lane / 4] + 2 * (lane % 4), 4);
  }
  __syncthreads();
}

inline void multiply(float& d0, float& d1, float& d2, float& d3, unsigned a0, unsigned a1, unsigned a2,
                     unsigned a3, unsigned b0, unsigned b1) {
  const unsigned lane = threadIdx.x % LANES, warp = threadIdx.x - lane;
  const unsigned a[] = {a0, a1, a2, a3}, b[] = {b0, b1};
  std::memcpy(held_a[threadIdx.x], a, sizeof a);
  std::memcpy(held_b[threadIdx.x], b, sizeof b);
  __syncthreads();
  float* const d[] = {&d0, &d1, &d2, &d3};
  for (unsigned r = 0; r < 4; ++r) {
    const unsigned i = lane / 4 + 8 * (r / 2), j = 2 * (lane % 4) + r % 2;
    for (unsigned k = 0; k < 16; ++k) {
      const __half x = held_a[warp + i % 8 * 4 + k % 8 / 2][i / 8 + 2 * (k / 8)][k % 2];
      const __half y = held_b[warp + j * 4 + k % 8 / 2][k / 8][k % 2];
      *d[r] += static_cast<float>(x) * static_cast<float>(y);
    }
  }
  __syncthreads();
}

inline void copy_vector(__half* to, const __half* from) { std::memcpy(to, from, 16); }

inline void copies_commit() {}

template <int last>
void copies_wait() {}
