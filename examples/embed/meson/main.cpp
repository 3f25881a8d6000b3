#include <cstdio>

#include "tiled.hpp"

int main() { std::printf("%lld\n", static_cast<long long>(lego::tiled_apply(1, 2, 0, 3))); }
