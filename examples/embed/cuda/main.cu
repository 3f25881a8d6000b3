#include <cstdio>

#include "tiled.cuh"

__global__ void fill(float* values) {
  values[tiled_apply(blockIdx.y, blockIdx.x, threadIdx.y, threadIdx.x)] = 1.0f;
}

int main() {
  float* values;
  if (cudaMallocManaged(&values, 12 * 20 * sizeof(float)) == cudaSuccess) {
    fill<<<dim3(4, 4), dim3(5, 3)>>>(values);
    cudaDeviceSynchronize();
  }
  std::printf("%lld\n", static_cast<long long>(tiled_apply(1, 2, 0, 3)));
}
