// Instructions of PTX that CUDA C has no name for.
#pragma once

#include <cuda_fp16.h>

// Four 8 x 8 matrices; lane 8 r + k points at row k of matrix r.
__device__ void load_matrices(unsigned& r0, unsigned& r1, unsigned& r2, unsigned& r3, const __half* row) {
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3)
               : "r"(address)
               : "memory");
}

// d += a b, of 16 x 16 and 16 x 8.
__device__ void multiply(float& d0, float& d1, float& d2, float& d3, unsigned a0, unsigned a1,
                         unsigned a2, unsigned a3, unsigned b0, unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

// 16 bytes to shared memory, past the registers and the L1 cache. What a thread copies up to a commit is a group.
__device__ void copy_vector(__half* to, const __half* from) {
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from) : "memory");
}

__device__ void copies_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Until all but the last groups are there.
template <int last>
__device__ void copies_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(last) : "memory");
}
