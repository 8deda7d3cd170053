#include "chainerx/backends/native/kernels/mean.h"

namespace chainerx::native::CHAINERX_ISA {

template <>
void Mean<float>(int64_t count, int64_t n_sources, const float* const* sources, int64_t n_results,
                 float* const* results) {
    constexpr int64_t kBlock = 1024;
    float total[kBlock];  // stays in the cache
    float scale = 1.0F / static_cast<float>(n_sources);
    for (int64_t start = 0; start < count; start += kBlock) {
        int64_t size = count - start < kBlock ? count - start : kBlock;
        const float* first = sources[0] + start;
        if (n_sources == 1) {
            __builtin_memcpy(total, first, size * sizeof(float));
        } else {
            const float* second = sources[1] + start;
            for (int64_t i = 0; i < size; ++i) total[i] = first[i] + second[i];
        }
        for (int64_t k = 2; k < n_sources; ++k) {
            const float* source = sources[k] + start;
            for (int64_t i = 0; i < size; ++i) total[i] += source[i];
        }
        for (int64_t k = 0; k < n_results; ++k) {
            float* result = results[k] + start;
            for (int64_t i = 0; i < size; ++i) result[i] = total[i] * scale;
        }
    }
}

}  // namespace chainerx::native::CHAINERX_ISA
