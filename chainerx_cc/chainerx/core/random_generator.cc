#include "chainerx/core/random_generator.h"

#include <random>

namespace chainerx {

RandomGenerator::RandomGenerator() {
    std::random_device device;
    Seed(static_cast<uint64_t>(device()) << 32 | device());
}

void RandomGenerator::Seed(uint64_t seed) {
    std::lock_guard<std::mutex> lock{mutex_};
    next_ = {seed, 0};
}

RandomStream RandomGenerator::Take(int64_t count) {
    std::lock_guard<std::mutex> lock{mutex_};
    RandomStream taken = next_;
    next_.position += static_cast<uint64_t>((count + kAlignment - 1) / kAlignment * kAlignment);
    return taken;
}

}  // namespace chainerx
