// Each access of a file by one warp, in a launch of its own, for a profiler to count its wavefronts.
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Access {
  int width;  // bytes a lane moves
  int write;
  int at[32];  // a lane's first byte in shared memory; -1 where it takes no part
};

__global__ void touch(const Access* given, int* sink) {
  extern __shared__ int memory[];
  const int at = given->at[threadIdx.x];
  int total = 0;
  if (at >= 0) {
    const auto from = static_cast<unsigned>(__cvta_generic_to_shared(memory)) + at;
    if (given->write) {
      switch (given->width) {
        case 1: asm volatile("st.shared.u8 [%0], %1;" ::"r"(from), "r"(at)); break;
        case 2: asm volatile("st.shared.u16 [%0], %1;" ::"r"(from), "h"((short)at)); break;
        case 4: asm volatile("st.shared.u32 [%0], %1;" ::"r"(from), "r"(at)); break;
        case 8: asm volatile("st.shared.v2.u32 [%0], {%1, %1};" ::"r"(from), "r"(at)); break;
        case 16:
          asm volatile("st.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(from), "r"(at));
          break;
      }
    } else {
      int a = 0, b = 0, c = 0, d = 0;
      switch (given->width) {
        case 1: asm volatile("ld.shared.u8 %0, [%1];" : "=r"(a) : "r"(from)); break;
        case 2: {
          short h;
          asm volatile("ld.shared.u16 %0, [%1];" : "=h"(h) : "r"(from));
          a = h;
          break;
        }
        case 4: asm volatile("ld.shared.u32 %0, [%1];" : "=r"(a) : "r"(from)); break;
        case 8:
          asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(from));
          break;
        case 16:
          asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                       : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                       : "r"(from));
          break;
      }
      total = a + b + c + d;
    }
  }
  sink[threadIdx.x] = total;
}

int main(int, char** arguments) {
  std::FILE* file = std::fopen(arguments[1], "rb");
  std::vector<Access> all;
  for (Access one; std::fread(&one, sizeof one, 1, file) == 1;) all.push_back(one);
  std::fclose(file);
  Access* given;
  int* sink;
  cudaMalloc(&given, all.size() * sizeof(Access));
  cudaMalloc(&sink, 32 * sizeof(int));
  cudaMemcpy(given, all.data(), all.size() * sizeof(Access), cudaMemcpyHostToDevice);
  for (std::size_t k = 0; k < all.size(); ++k) touch<<<1, 32, 48 << 10>>>(given + k, sink);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%zu accesses: %s\n", all.size(), cudaGetErrorString(error));
  return error != cudaSuccess;
}
