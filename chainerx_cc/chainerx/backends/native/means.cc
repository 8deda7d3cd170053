#include "chainerx/backends/native/means.h"

#include <algorithm>
#include <array>

#include "chainerx/backends/native/kernels/half.h"

namespace chainerx::native {

void FloatsToHalves(HalfType type, int64_t count, const float* floats, uint16_t* halves) {
    (type == HalfType::kFloat16 ? &ConvertToHalf<float> : &ConvertToBfloat16<float>)(count, floats, halves);
}

void HalvesToFloats(HalfType type, int64_t count, const uint16_t* halves, float* floats) {
    (type == HalfType::kFloat16 ? &ConvertFromHalf<float> : &ConvertFromBfloat16<float>)(count, halves, floats);
}

void WriteMean(int64_t count, const std::vector<const float*>& sources, const std::vector<float*>& results) {
    float scale = 1.0F / static_cast<float>(sources.size());
    std::array<float, 1024> total;  // stays in the cache
    for (int64_t start = 0; start < count; start += static_cast<int64_t>(total.size())) {
        int64_t size = std::min<int64_t>(static_cast<int64_t>(total.size()), count - start);
        std::copy_n(sources.front() + start, size, total.data());
        for (size_t i = 1; i < sources.size(); ++i) {
            const float* source = sources[i] + start;
            for (int64_t j = 0; j < size; ++j) total[j] += source[j];
        }
        for (int64_t j = 0; j < size; ++j) total[j] *= scale;
        for (float* result : results) std::copy_n(total.data(), size, result + start);
    }
}

}  // namespace chainerx::native
