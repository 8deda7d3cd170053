#pragma once

#include <cstdint>
#include <mutex>

namespace chainerx {

// The position of a random operation: a key, and an offset in the sequence of the key.
struct RandomStream {
    uint64_t key;
    uint64_t position;
};

// Hands out parts of one sequence of random numbers. The numbers themselves are a function of key and position, so
// they do not depend on how many threads compute them. Threads may share a generator.
class RandomGenerator {
public:
    // Takes a seed from the system.
    RandomGenerator();

    void Seed(uint64_t seed);

    // The next `count` positions; streams begin at multiples of kAlignment.
    RandomStream Take(int64_t count);

    static constexpr int64_t kAlignment = 64;

private:
    std::mutex mutex_;
    RandomStream next_;
};

}  // namespace chainerx
