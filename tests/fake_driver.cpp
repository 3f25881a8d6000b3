// A CUDA driver and an NVML for tests: a "cubin" is a shared object of host kernels (host.hpp), which run
// where they are launched; a stream does all at once, a graph is a list of what was launched.
#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

namespace {

struct Size3 {
  unsigned x, y, z;
};
using Kernel = void (*)(const Size3*, const Size3*, void**);
using Graph = std::vector<std::function<void()>>;

Graph* captured = nullptr;
int launches = 0;

void act(std::function<void()> what) {
  if (captured) {
    captured->push_back(std::move(what));
  } else {
    what();
  }
}

}  // namespace

extern "C" {

int cuInit(unsigned) { return 0; }
int cuDeviceGet(int* device, int) { return *device = 0; }
int cuDeviceGetName(char* name, int size, int) {
  std::strncpy(name, "Fake X1", static_cast<std::size_t>(size));
  return 0;
}
int cuDevicePrimaryCtxRetain(void**, int) { return 0; }
int cuCtxSetCurrent(void*) { return 0; }
int cuStreamCreate(void**, unsigned) { return 0; }
int cuStreamSynchronize(void*) { return captured ? 900 : 0; }
int cuGetErrorString(int, const char** text) {
  *text = "a fake error";
  return 0;
}

int cuMemAlloc_v2(std::uint64_t* at, std::size_t size) {
  if (size > std::size_t{1} << 34) return 2;
  *at = reinterpret_cast<std::uint64_t>(std::malloc(size));
  return 0;
}
int cuMemFree_v2(std::uint64_t at) {
  std::free(reinterpret_cast<void*>(at));
  return 0;
}
int cuMemcpyHtoDAsync_v2(std::uint64_t to, const void* from, std::size_t size, void*) {
  std::memcpy(reinterpret_cast<void*>(to), from, size);
  return 0;
}
int cuMemcpyDtoH_v2(void* to, std::uint64_t from, std::size_t size) {
  std::memcpy(to, reinterpret_cast<void*>(from), size);
  return 0;
}
int cuMemcpyDtoDAsync_v2(std::uint64_t to, std::uint64_t from, std::size_t size, void*) {
  act([=] { std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), size); });
  return 0;
}
int cuMemsetD32Async(std::uint64_t, unsigned, std::size_t, void*) { return 0; }

// The cubin's bytes are the path of a shared object.
int cuModuleLoadData(void** made, const char* path) {
  *made = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  return *made ? 0 : 200;
}
int cuModuleGetFunction(void** made, void* module, const char* name) {
  *made = dlsym(module, (std::string("host_") + name).c_str());
  return *made ? 0 : 500;
}
int cuFuncGetAttribute(int* found, int which, void*) {
  const char* local = std::getenv("FAKE_LOCAL_BYTES");
  *found = which == 4 ? 32 : which == 3 && local ? std::atoi(local) : 0;
  return 0;
}

// A graph keeps the values of the arguments; each has at most 8 bytes.
int cuLaunchKernel(void* kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned, void*, void** arguments, void*) {
  int count = 0;
  while (count < 16 && arguments[count]) ++count;
  std::vector<std::uint64_t> values(static_cast<std::size_t>(count));
  for (std::size_t k = 0; k < values.size(); ++k) std::memcpy(&values[k], arguments[k], 8);
  const Size3 grid{gx, gy, gz}, block{bx, by, bz};
  ++launches;
  act([=]() mutable {
    std::vector<void*> places;
    for (auto& value : values) places.push_back(&value);
    reinterpret_cast<Kernel>(kernel)(&grid, &block, places.data());
  });
  return 0;
}

int cuStreamBeginCapture_v2(void*, int) {
  captured = new Graph;
  return 0;
}
int cuStreamEndCapture(void*, void** made) {
  *made = captured;
  captured = nullptr;
  return 0;
}
int cuGraphInstantiateWithFlags(void** made, void* graph, unsigned long long) {
  *made = new Graph(*static_cast<Graph*>(graph));
  return 0;
}
int cuGraphDestroy(void* graph) {
  delete static_cast<Graph*>(graph);
  return 0;
}
int cuGraphExecDestroy(void* graph) { return cuGraphDestroy(graph); }
int cuGraphUpload(void*, void*) { return 0; }
int cuGraphLaunch(void* graph, void*) {
  for (auto& one : *static_cast<Graph*>(graph)) one();
  return 0;
}

int cuEventCreate(void**, unsigned) { return 0; }
int cuEventRecord(void*, void*) { return 0; }
int cuEventSynchronize(void*) { return 0; }
int cuEventElapsedTime(float* ms, void*, void*) {
  *ms = 0.25f;
  return 0;
}

int nvmlInit_v2() { return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned, void**) { return 0; }
int nvmlDeviceGetClockInfo(void*, int, unsigned* mhz) {
  *mhz = 1980;
  return 0;
}
int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  *milliwatts = 700000;
  return 0;
}
}
