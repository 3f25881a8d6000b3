#version 450
#extension GL_GOOGLE_include_directive : require
#include "generated/tiled.glsl"

layout(local_size_x = 5, local_size_y = 3) in;
layout(std430, binding = 0) buffer Matrix { float values[]; };

void main() {
  ivec2 tile = ivec2(gl_WorkGroupID.yx);
  ivec2 inside = ivec2(gl_LocalInvocationID.yx);
  values[tiledApply(tile.x, tile.y, inside.x, inside.y)] = 1.0;
}
