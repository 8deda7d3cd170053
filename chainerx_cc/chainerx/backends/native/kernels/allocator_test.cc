#include "chainerx/backends/native/kernels/allocator.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <future>
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

constexpr size_t kMiB = size_t{1} << 20;

int64_t HeldBytes() { return AllocatedBytes() + CachedBytes(); }

// Kernels of many sizes, one after the other, which use up to three pieces at a time.
TEST(ScratchTest, SizesShareOneBlock) {
    ReleaseCachedMemory();
    int64_t before = HeldBytes();
    for (size_t size = 1; size <= 16; ++size) {
        Scratch<char> first{static_cast<int64_t>(size * kMiB)};
        Scratch<char> second{static_cast<int64_t>(size * kMiB / 2)};
        Scratch<char> third{100};
        std::memset(first.data(), 1, size * kMiB);
        std::memset(second.data(), 2, size * kMiB / 2);
        EXPECT_EQ(first.data()[size * kMiB - 1], 1);
    }
#ifndef __SANITIZE_ADDRESS__
    EXPECT_GE(HeldBytes() - before, static_cast<int64_t>(24 * kMiB));
#endif
    EXPECT_LT(HeldBytes() - before, static_cast<int64_t>(25 * kMiB));
    ReleaseCachedMemory();
    EXPECT_LE(HeldBytes(), before);
}

// A kernel that calls another one, which needs more than all before.
void UseNested(int depth, unsigned char mark) {
    int64_t count = (int64_t{100} << 10) << depth;
    Scratch<unsigned char> mine{count};
    ASSERT_EQ(reinterpret_cast<uintptr_t>(mine.data()) % 64, 0U);
    std::memset(mine.data(), mark, static_cast<size_t>(count));
    if (depth < 4) {
        UseNested(depth + 1, static_cast<unsigned char>(mark + 1));
        UseNested(depth + 1, static_cast<unsigned char>(mark + 2));
    }
    for (int64_t i = 0; i < count; i += 61) ASSERT_EQ(mine.data()[i], mark);
}

TEST(ScratchTest, Nested) {
    int64_t before = AllocatedBytes();
    UseNested(0, 1);
    UseNested(0, 100);  // now in one block
    EXPECT_EQ(AllocatedBytes(), before);
    ReleaseCachedMemory();
}

TEST(ScratchTest, NestedInManyThreads) {
    std::vector<std::thread> threads;
    std::atomic<bool> has_ended{false};
    threads.emplace_back([&] {
        while (!has_ended) ReleaseCachedMemory();
    });
    for (unsigned char mark = 0; mark < 4; ++mark) threads.emplace_back([mark] { UseNested(0, mark); });
    for (size_t i = 1; i < threads.size(); ++i) threads[i].join();
    has_ended = true;
    threads[0].join();
    ReleaseCachedMemory();
    EXPECT_EQ(CachedBytes(), 0);
}

// Pieces may end in another order, on the same thread.
TEST(ScratchTest, AnyOrder) {
    std::mt19937 random{3};
    std::vector<Held> held;
    for (int i = 0; i < 2000; ++i) {
        if (held.size() < 8 && random() % 2 == 0) {
            size_t bytes = random() % kMiB;
            auto* data = static_cast<unsigned char*>(AllocateScratch(bytes));
            auto mark = static_cast<unsigned char>(random());
            std::memset(data, mark, bytes);
            held.push_back({data, bytes, mark});
        } else if (!held.empty()) {
            size_t which = random() % held.size();
            Held block = held[which];
            held.erase(held.begin() + static_cast<int64_t>(which));
            for (size_t j = 0; j < block.bytes; j += 97) ASSERT_EQ(block.data[j], block.mark);
            FreeScratch(block.data, block.bytes);
        }
    }
    for (const Held& block : held) FreeScratch(block.data, block.bytes);
    ReleaseCachedMemory();
}

TEST(ScratchTest, ReleaseTakesThatOfOtherThreads) {
    std::promise<void> used;
    std::promise<void> released;
    std::thread thread{[&] {
        Scratch<char>{int64_t{8} << 20};
        used.set_value();
        released.get_future().wait();
        UseNested(0, 7);  // and the thread goes on
    }};
    used.get_future().wait();
    ReleaseCachedMemory();
    EXPECT_EQ(CachedBytes(), 0);
    released.set_value();
    thread.join();
    EXPECT_EQ(CachedBytes(), 0);  // what a thread keeps ends with it
}

TEST(ScratchTest, OutOfMemory) {
    for (size_t bytes : {size_t{1} << 46, ~size_t{0}}) {
        EXPECT_THROW(AllocateScratch(bytes), std::bad_alloc);
        Scratch<char> outer{int64_t{1} << 20};
        EXPECT_THROW(AllocateScratch(bytes), std::bad_alloc);
        UseNested(2, 9);
    }
    ReleaseCachedMemory();
    EXPECT_EQ(CachedBytes(), 0);
}

TEST(ScratchTest, NoMoreThanTheAllowanceIsKept) {
    ReleaseCachedMemory();
    for (int i = 0; i < 2; ++i) Scratch<char>{int64_t{300} << 20};
    EXPECT_LT(CachedBytes(), int64_t{256} << 20);
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
