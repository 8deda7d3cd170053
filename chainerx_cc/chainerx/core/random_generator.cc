#include "chainerx/core/random_generator.h"

#include <random>

#include "chainerx/core/kernel_watch.h"

namespace chainerx {

RandomGenerator::RandomGenerator() {
    std::random_device device;
    Seed(static_cast<uint64_t>(device()) << 32 | device());
}

void RandomGenerator::Seed(uint64_t seed) {
    NoteGraphBreak("a seed of the random generator");
    std::lock_guard<std::mutex> lock{mutex_};
    next_ = {seed, 0};
}

RandomStream RandomGenerator::Take(int64_t count) {
    RandomStream taken;
    {
        std::lock_guard<std::mutex> lock{mutex_};
        taken = next_;
        next_.position += static_cast<uint64_t>((count + kAlignment - 1) / kAlignment * kAlignment);
    }
    if (internal::t_kernel_watcher != nullptr) internal::t_kernel_watcher->OnRandom(taken, count);
    return taken;
}

}  // namespace chainerx
