"""CUDA C's device functions on the host: each thread of a block is one of the machine's."""

import shutil
import subprocess

import numpy as np
import pytest

HOST = """
#include <atomic>
#include <barrier>
#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>
#define __device__
#define __forceinline__ inline
#define __popc __builtin_popcount
struct alignas(8) uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
struct Index { unsigned x; };
static thread_local Index threadIdx;
static std::unique_ptr<std::barrier<>> block, warps[8];
static unsigned long long exchanged[8][32];
static void __syncthreads() { block->arrive_and_wait(); }
static void __syncwarp() { warps[threadIdx.x / 32]->arrive_and_wait(); }
template <typename W> W __shfl_sync(unsigned, W word, int lane) {
  exchanged[threadIdx.x / 32][threadIdx.x % 32] = word;
  __syncwarp();
  const W found = static_cast<W>(exchanged[threadIdx.x / 32][lane & 31]);
  __syncwarp();
  return found;
}
template <typename W> W __shfl_xor_sync(unsigned mask, W word, int lane) {
  return __shfl_sync(mask, word, static_cast<int>(threadIdx.x % 32u) ^ lane);
}
[[maybe_unused]] static unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
  const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
  unsigned made = 0;
  for (unsigned k = 0; k < 4; ++k) {
    const unsigned nibble = selector >> 4 * k & 15u;
    unsigned byte = static_cast<unsigned>(both >> 8 * (nibble & 7u)) & 255u;
    if (nibble & 8u) byte = byte & 128u ? 255u : 0u;
    made |= byte << 8 * k;
  }
  return made;
}
template <unsigned N> struct Element { unsigned char at[N]; };
template <unsigned N> Element<N> element(unsigned number) {
  Element<N> made{};
  std::memcpy(made.at, &number, N < 4 ? N : 4);
  if (N > 4) made.at[N - 1] = static_cast<unsigned char>(~number);
  return made;
}
alignas(16) static unsigned char bytes[1 << 16];
template <unsigned N, unsigned R> int wrong(const Element<N> (&found)[R], const unsigned* wanted) {
  int count = 0;
  for (unsigned k = 0; k < R; ++k) {
    const auto right = element<N>(wanted[k]);
    count += std::memcmp(&right, &found[k], N) != 0;
  }
  return count;
}
template <typename F> int launch(unsigned count, F run) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  block = std::make_unique<std::barrier<>>(count);
  for (auto& warp : warps) warp = std::make_unique<std::barrier<>>(32);
  for (unsigned k = 0; k < count; ++k) {
    threads.emplace_back([&wrong, run, k] {
      threadIdx.x = k;
      wrong += run(k);
    });
  }
  for (auto& thread : threads) thread.join();
  return wrong;
}
"""


def elements(layout, warps, lanes):
    """The element that each register of each lane of each warp holds, numbered."""
    names = {"register": layout.in_dims.get("register", 1), "lane": lanes, "warp": warps}
    warp, lane, register = np.indices((warps, lanes, names["register"]))
    given = {"register": register, "lane": lane, "warp": warp}
    found = layout.reference_apply(
        tuple(given.get(n, np.zeros_like(lane)) for n in layout.coordinates)
    )
    found = found if isinstance(found, tuple) else (found,)
    total = np.zeros_like(lane)
    for value, (_, bits) in zip(found, layout.outs, strict=True):
        total = (total << bits) + value
    return total


def coordinates(layout, warps, lanes):
    """The coordinates of what each register of each lane of each warp holds, by name."""
    names = {"register": layout.in_dims.get("register", 1), "lane": lanes, "warp": warps}
    warp, lane, register = np.indices((warps, lanes, names["register"]))
    given = {"register": register, "lane": lane, "warp": warp}
    found = layout(*(given.get(n, np.zeros_like(lane)) for n in layout.coordinates))
    return dict(zip(layout.results, found, strict=True))


def numbers(name, values):
    """A table of a program."""
    return f"static const unsigned {name}[] = {{{', '.join(map(str, values.reshape(-1)))}}};"


def run_by_threads(parts, folder):
    """Compile functions for the host and run each with its threads: none of them counts a wrong
    element. parts: name -> the text of the device function and of wrong_NAME."""
    if shutil.which("g++") is None:
        pytest.skip("needs g++")
    text = "\n".join([HOST, *parts.values(), "int main() {"])
    text += "".join(f'  std::printf("{n} %d\\n", wrong_{n}());\n' for n in parts) + "}\n"
    source, program = folder / "program.cpp", folder / "program"
    source.write_text(text)
    warnings = ["-Wall", "-Wextra", "-Wconversion", "-Wsign-conversion", "-Wshadow", "-Werror"]
    options = ["-std=c++20", "-pthread", *warnings, "-Wno-unknown-pragmas"]
    subprocess.run(["g++", *options, source, "-o", program], check=True)
    done = subprocess.run([program], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:-1] == [f"{n} 0" for n in parts]
