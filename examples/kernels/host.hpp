// CUDA kernels as host C++20: a block's threads are real threads, __syncthreads() is their barrier, and
// blocks run one after another. No warps: what shuffles or multiplies matrices has no host form.
#pragma once

#include <algorithm>
#include <barrier>
#include <cstddef>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#define __global__
#define __device__
#define __forceinline__ inline
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __shared__ static
#define __launch_bounds__(...)
#define __syncthreads() host::barrier->arrive_and_wait()

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};

struct float2 {
  float x, y;
};

using std::max, std::min;

inline thread_local dim3 threadIdx, blockIdx;
inline dim3 blockDim, gridDim;

namespace host {

inline std::unique_ptr<std::barrier<>> barrier;

// arguments: the addresses of a kernel's arguments, as cudaLaunchKernel takes them.
template <class... A>
void launch(void (*kernel)(A...), dim3 grid, dim3 block, void** arguments) {
  const unsigned threads = block.x * block.y * block.z, blocks = grid.x * grid.y * grid.z;
  gridDim = grid;
  blockDim = block;
  barrier = std::make_unique<std::barrier<>>(static_cast<std::ptrdiff_t>(threads));
  const auto run = [=](unsigned thread) {
    threadIdx = {thread % block.x, thread / block.x % block.y, thread / block.x / block.y};
    for (unsigned n = 0; n < blocks; ++n) {
      blockIdx = {n % grid.x, n / grid.x % grid.y, n / grid.x / grid.y};
      [=]<std::size_t... k>(std::index_sequence<k...>) {
        kernel(*static_cast<A*>(arguments[k])...);
      }(std::index_sequence_for<A...>());
      __syncthreads();
    }
  };
  std::vector<std::jthread> started;
  for (unsigned thread = 0; thread < threads; ++thread) started.emplace_back(run, thread);
}

}  // namespace host

#define HOST_KERNEL(name)                                                          \
  extern "C" void host_##name(const dim3* grid, const dim3* block, void** arguments) { \
    host::launch(name, *grid, *block, arguments);                                  \
  }
