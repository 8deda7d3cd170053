#include "chainerx/backends/native/kernels/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace chainerx::native {
namespace {

class ThreadPoolTest : public ::testing::Test {
protected:
    void SetUp() override { SetNumThreads(4); }
    void TearDown() override { SetNumThreads(original_); }

    int original_ = GetNumThreads();
};

int64_t CoverOnce(int64_t n, int64_t grain) {
    std::vector<std::atomic<int>> visits(n);
    ParallelFor(n, grain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            visits[i].fetch_add(1);
        }
    });
    int64_t wrong = 0;
    for (auto& count : visits) {
        wrong += count.load() != 1;
    }
    return wrong;
}

TEST_F(ThreadPoolTest, CoversEveryIndexOnce) {
    for (int64_t n : {0, 1, 2, 3, 7, 100, 12345}) {
        for (int64_t grain : {0, 1, 3, 1000}) {
            EXPECT_EQ(CoverOnce(n, grain), 0) << n << " " << grain;
        }
    }
}

TEST_F(ThreadPoolTest, RangesAreAboutEqual) {
    for (int64_t n : {66, 103, 1000}) {
        std::atomic<int64_t> ranges{0};
        std::atomic<int64_t> wrong{0};
        int64_t count = std::min<int64_t>(n / 5, 4 * GetNumThreads());
        ParallelFor(n, 5, [&](int64_t begin, int64_t end) {
            ++ranges;
            wrong += end - begin != n / count && end - begin != n / count + 1;
        });
        EXPECT_EQ(ranges.load(), count) << n;
        EXPECT_EQ(wrong.load(), 0) << n;
    }
}

TEST_F(ThreadPoolTest, NestedRunsSerially) {
    std::atomic<int> inner_calls{0};
    ParallelFor(8, 1, [&](int64_t begin, int64_t end) {
        EXPECT_TRUE(InParallelRegion());
        for (int64_t i = begin; i < end; ++i) {
            ParallelFor(100, 1, [&](int64_t b, int64_t e) { inner_calls += b == 0 && e == 100; });
        }
    });
    EXPECT_EQ(inner_calls.load(), 8);
    EXPECT_FALSE(InParallelRegion());
}

TEST_F(ThreadPoolTest, RethrowsAndStaysUsable) {
    for (int i = 0; i < 100; ++i) {
        EXPECT_THROW(ParallelFor(100, 1,
                                 [](int64_t begin, int64_t) {
                                     if (begin >= 0) throw std::runtime_error{"x"};
                                 }),
                     std::runtime_error);
    }
    EXPECT_EQ(CoverOnce(1000, 1), 0);
}

TEST_F(ThreadPoolTest, ConcurrentCallers) {
    std::atomic<int64_t> wrong{0};
    std::vector<std::thread> callers;
    for (int t = 0; t < 4; ++t) {
        callers.emplace_back([&] {
            for (int i = 0; i < 200; ++i) {
                wrong += CoverOnce(100 + i, 1);
            }
        });
    }
    for (auto& caller : callers) {
        caller.join();
    }
    EXPECT_EQ(wrong.load(), 0);
}

TEST_F(ThreadPoolTest, WorksAfterFork) {
    EXPECT_EQ(CoverOnce(1000, 1), 0);
    for (int i = 0; i < 5; ++i) {
        pid_t pid = fork();
        if (pid == 0) {
            alarm(20);
            _exit(CoverOnce(1000, 1) == 0 ? 0 : 1);
        }
        int status = -1;
        ASSERT_EQ(waitpid(pid, &status, 0), pid);
        EXPECT_EQ(status, 0);
        EXPECT_EQ(CoverOnce(1000, 1), 0);
    }
}

TEST_F(ThreadPoolTest, SetNumThreadsChecksItsArgument) {
    EXPECT_THROW(SetNumThreads(0), std::invalid_argument);
    SetNumThreads(2);
    EXPECT_EQ(GetNumThreads(), 2);
    EXPECT_EQ(CoverOnce(1000, 1), 0);
}

}  // namespace
}  // namespace chainerx::native
