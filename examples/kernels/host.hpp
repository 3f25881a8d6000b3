// CUDA kernels as host C++20: a block's threads take turns, each from one __syncthreads() to the next, and
// blocks run one after another. The turns go up and down in alternation, so that what one thread writes and
// another reads without a barrier between them is found in both directions. No warps: what shuffles or
// multiplies matrices has no host form.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#define __global__
#define __device__
#define __forceinline__ inline
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __shared__ static
#define __launch_bounds__(...)
#define __syncthreads() host::wait()

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};

struct float2 {
  float x, y;
};

using std::max, std::min;

inline dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace host {

constexpr std::size_t STACK = 1 << 16;

struct Thread {
  ucontext_t context;
  std::vector<char> stack = std::vector<char>(STACK);
  bool done = false;
};

inline std::vector<Thread> threads;
inline bool down = true;  // whether the turns of the block before began with its last thread
inline ucontext_t turns;
inline Thread* running;
inline void (*kernel)(void*);
inline void* given;

inline void wait() { swapcontext(&running->context, &turns); }

inline void begin() {
  kernel(given);
  running->done = true;
}

inline void start(Thread& one) {
  one.done = false;
  getcontext(&one.context);
  one.context.uc_stack.ss_sp = one.stack.data();
  one.context.uc_stack.ss_size = STACK;
  one.context.uc_link = &turns;
  makecontext(&one.context, begin, 0);
}

// Runs a block to the end of all threads.
inline void run() {
  const std::size_t count = threads.size();
  bool back = down = !down;
  for (auto& one : threads) start(one);
  for (std::size_t left = count; left > 0; back = !back) {
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t n = back ? count - 1 - k : k;
      running = &threads[n];
      if (running->done) continue;
      const unsigned thread = static_cast<unsigned>(n);
      threadIdx = {thread % blockDim.x, thread / blockDim.x % blockDim.y, thread / blockDim.x / blockDim.y};
      swapcontext(&turns, &running->context);
      left -= running->done;
    }
  }
}

// arguments: the addresses of a kernel's arguments, as cudaLaunchKernel takes them.
template <class... A>
void launch(void (*function)(A...), dim3 grid, dim3 block, void** arguments) {
  auto call = [=] {
    [=]<std::size_t... k>(std::index_sequence<k...>) {
      function(*static_cast<A*>(arguments[k])...);
    }(std::index_sequence_for<A...>());
  };
  kernel = [](void* all) { (*static_cast<decltype(call)*>(all))(); };
  given = &call;
  gridDim = grid;
  blockDim = block;
  threads.resize(block.x * block.y * block.z);
  for (unsigned n = 0; n < grid.x * grid.y * grid.z; ++n) {
    blockIdx = {n % grid.x, n / grid.x % grid.y, n / grid.x / grid.y};
    run();
  }
}

}  // namespace host

#define HOST_KERNEL(name)                                                          \
  extern "C" void host_##name(const dim3* grid, const dim3* block, void** arguments) { \
    host::launch(name, *grid, *block, arguments);                                  \
  }
