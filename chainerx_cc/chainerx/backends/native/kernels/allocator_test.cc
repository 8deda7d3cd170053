#include "chainerx/backends/native/kernels/allocator.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <new>
#include <random>
#include <thread>
#include <vector>

namespace chainerx::native {
namespace {

struct Held {
    unsigned char* data;
    size_t bytes;
    unsigned char mark;
};

// Allocates and frees at random, checking alignment and that no two live blocks overlap.
void Exercise(unsigned seed, int rounds) {
    std::mt19937 random{seed};
    std::vector<Held> held;
    for (int i = 0; i < rounds; ++i) {
        if (held.size() < 50 && random() % 2 == 0) {
            size_t bytes = random() % (size_t{1} << (random() % 20 + 1));
            auto* data = static_cast<unsigned char*>(Allocate(bytes));
            ASSERT_EQ(reinterpret_cast<uintptr_t>(data) % 64, 0U);
            auto mark = static_cast<unsigned char>(random());
            std::memset(data, mark, bytes);
            held.push_back({data, bytes, mark});
        } else if (!held.empty()) {
            size_t which = random() % held.size();
            Held block = held[which];
            held.erase(held.begin() + static_cast<int64_t>(which));
            for (size_t j = 0; j < block.bytes; j += 97) {
                ASSERT_EQ(block.data[j], block.mark);
            }
            Free(block.data, block.bytes);
        }
    }
    for (const Held& block : held) {
        Free(block.data, block.bytes);
    }
}

TEST(AllocatorTest, BlocksAreAlignedAndDisjoint) {
    int64_t before = AllocatedBytes();
    Exercise(0, 20000);
    EXPECT_EQ(AllocatedBytes(), before);
}

TEST(AllocatorTest, ManyThreads) {
    int64_t before = AllocatedBytes();
    std::vector<std::thread> threads;
    for (unsigned seed = 1; seed <= 4; ++seed) {
        threads.emplace_back([seed] { Exercise(seed, 5000); });
    }
    for (auto& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(AllocatedBytes(), before);
}

TEST(AllocatorTest, FreeOnAnotherThread) {
    int64_t before = AllocatedBytes();
    std::vector<void*> blocks;
    for (int i = 0; i < 1000; ++i) {
        blocks.push_back(Allocate(100));
    }
    EXPECT_GE(AllocatedBytes(), before + 1000 * 100);
    std::thread{[&] {
        for (void* block : blocks) {
            Free(block, 100);
        }
    }}.join();
    EXPECT_EQ(AllocatedBytes(), before);
}

TEST(AllocatorTest, ReusesAndReleases) {
#ifndef __SANITIZE_ADDRESS__
    for (size_t bytes : {size_t{10}, size_t{5000}, size_t{10} << 20}) {
        void* first = Allocate(bytes);
        Free(first, bytes);
        void* second = Allocate(bytes);
        EXPECT_EQ(first, second) << bytes;
        Free(second, bytes);
    }
    EXPECT_GT(CachedBytes(), 0);
#endif
    ReleaseCachedMemory();
    EXPECT_EQ(CachedBytes(), 0);
}

TEST(AllocatorTest, CacheIsBounded) {
    std::vector<void*> blocks;
    constexpr size_t kBytes = size_t{20} << 20;
    for (int i = 0; i < 40; ++i) {
        blocks.push_back(Allocate(kBytes));
    }
    for (void* block : blocks) {
        Free(block, kBytes);
    }
    EXPECT_LE(CachedBytes(), int64_t{420} << 20);
    ReleaseCachedMemory();
}

TEST(AllocatorTest, OutOfMemory) {
    EXPECT_THROW(Allocate(size_t{1} << 46), std::bad_alloc);
    EXPECT_THROW(Allocate(~size_t{0}), std::bad_alloc);
}

TEST(AllocatorTest, ZeroBytesAndNull) {
    void* block = Allocate(0);
    EXPECT_NE(block, nullptr);
    Free(block, 0);
    Free(nullptr, 8);
}

TEST(AllocatorTest, WorksAfterFork) {
    Exercise(5, 1000);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(20);
        Exercise(6, 1000);
        _exit(::testing::Test::HasFailure() ? 1 : 0);
    }
    int status = -1;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace chainerx::native
