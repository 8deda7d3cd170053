#include "chainerx/backends/native/means.h"

#include "chainerx/backends/native/kernels/half.h"
#include "chainerx/backends/native/kernels/mean.h"

namespace chainerx::native {

void FloatsToHalves(HalfType type, int64_t count, const float* floats, uint16_t* halves) {
    (type == HalfType::kFloat16 ? &ConvertToHalf<float> : &ConvertToBfloat16<float>)(count, floats, halves);
}

void HalvesToFloats(HalfType type, int64_t count, const uint16_t* halves, float* floats) {
    (type == HalfType::kFloat16 ? &ConvertFromHalf<float> : &ConvertFromBfloat16<float>)(count, halves, floats);
}

void WriteMean(int64_t count, const std::vector<const float*>& sources, const std::vector<float*>& results) {
    Mean<float>(count, static_cast<int64_t>(sources.size()), sources.data(), static_cast<int64_t>(results.size()),
                results.data());
}

}  // namespace chainerx::native
