#pragma once

// What means over processes do with elements in memory.

#include <cstdint>
#include <vector>

namespace chainerx::native {

enum class HalfType { kFloat16, kBfloat16 };

// `count` elements from one to the other, rounded to the nearest, ties to even
void FloatsToHalves(HalfType type, int64_t count, const float* floats, uint16_t* halves);
void HalvesToFloats(HalfType type, int64_t count, const uint16_t* halves, float* floats);

// Writes the mean of arrays of `count` elements to others, which may be the same ones. Adds in the order of the
// sources, of which there must be at least one.
void WriteMean(int64_t count, const std::vector<const float*>& sources, const std::vector<float*>& results);

}  // namespace chainerx::native
