#include "chainerx/backends/native/kernels/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

#ifdef __linux__
#include <pthread.h>
#include <sched.h>
#endif

namespace chainerx::native {
namespace {

thread_local bool t_in_parallel = false;

class ParallelRegion {
public:
    ParallelRegion() { t_in_parallel = true; }
    ~ParallelRegion() { t_in_parallel = false; }
};

inline void Pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

// One ParallelFor. It is on the caller's stack.
struct Job {
    FunctionRef<void(int64_t, int64_t)> body;
    int64_t n;
    int64_t chunks;  // of n / chunks or one more
    int max_workers;
    std::atomic<int64_t> next{0};
    std::atomic<bool> failed{false};
    std::exception_ptr error{};

    void Work() {
        ParallelRegion region;
        for (;;) {
            int64_t i = next.fetch_add(1, std::memory_order_relaxed);
            if (i >= chunks) {
                return;
            }
            try {
                body(Begin(i), Begin(i + 1));
            } catch (...) {
                if (!failed.exchange(true)) {
                    error = std::current_exception();
                }
                next.store(chunks, std::memory_order_relaxed);
            }
        }
    }

    int64_t Begin(int64_t i) const { return n / chunks * i + std::min(i, n % chunks); }
};

// Workers that serve one job at a time. Never destroyed: worker threads may outlive static destructors.
class Pool {
public:
    // Returns false when another caller is using the pool.
    bool TryRun(Job& job) {
        std::unique_lock<std::mutex> caller{caller_mutex_, std::try_to_lock};
        if (!caller) {
            return false;
        }
        while (worker_count_ < job.max_workers) {
            try {
                std::thread{[this, index = worker_count_] { WorkerLoop(index); }}.detach();
            } catch (const std::system_error&) {
                break;  // no more threads: continue with the present workers
            }
            ++worker_count_;
        }
        job_.store(&job);
        generation_.fetch_add(1);
        if (sleepers_.load() > 0) {
            std::lock_guard<std::mutex> lock{sleep_mutex_};
            wake_.notify_all();
        }
        job.Work();
        // A worker that enters from here on sees no job; one that entered before is counted in running_.
        job_.store(nullptr);
        for (int spin = 0; running_.load() != 0; ++spin) {
            if (spin < kSpins) {
                Pause();
            } else {
                std::this_thread::yield();
            }
        }
        return true;
    }

private:
    static constexpr int kSpins = 2000;  // some tens of microseconds

    void WorkerLoop(int index) {
        uint64_t seen = 0;
        for (;;) {
            seen = AwaitJob(seen);
            running_.fetch_add(1);
            if (Job* job = job_.load()) {
                if (index < job->max_workers) {
                    job->Work();
                }
            }
            running_.fetch_sub(1);
        }
    }

    uint64_t AwaitJob(uint64_t seen) {
        for (int spin = 0; spin < kSpins; ++spin) {
            uint64_t generation = generation_.load();
            if (generation != seen) {
                return generation;
            }
            Pause();
        }
        std::unique_lock<std::mutex> lock{sleep_mutex_};
        sleepers_.fetch_add(1);
        wake_.wait(lock, [&] { return generation_.load() != seen; });
        sleepers_.fetch_sub(1);
        return generation_.load();
    }

    std::mutex caller_mutex_;
    int worker_count_{0};  // guarded by caller_mutex_
    std::atomic<Job*> job_{nullptr};
    std::atomic<uint64_t> generation_{0};
    std::atomic<int> running_{0};
    std::atomic<int> sleepers_{0};
    std::mutex sleep_mutex_;
    std::condition_variable wake_;
};

std::atomic<Pool*> g_pool{nullptr};

Pool& GetPool() {
    Pool* pool = g_pool.load(std::memory_order_acquire);
    if (pool != nullptr) {
        return *pool;
    }
#ifdef __linux__
    static const int registered = pthread_atfork(nullptr, nullptr, [] {
        // The child has no workers and may have copied locked mutexes, so abandon the pool.
        g_pool.store(nullptr);
    });
    (void)registered;
#endif
    Pool* fresh = new Pool{};
    if (g_pool.compare_exchange_strong(pool, fresh)) {
        return *fresh;
    }
    delete fresh;
    return *pool;
}

int DefaultNumThreads() {
    for (const char* name : {"CHAINERX_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"}) {
        const char* text = std::getenv(name);
        if (text == nullptr) {
            continue;
        }
        char* end = nullptr;
        long value = std::strtol(text, &end, 10);  // NOLINT: strtol's own type
        // OMP_NUM_THREADS may go on with the numbers of nested levels.
        if (end != text && (*end == '\0' || *end == ',') && value >= 1 && value <= 4096) {
            return static_cast<int>(value);
        }
    }
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0) {
        return std::max(1, CPU_COUNT(&set));
    }
#endif
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

std::atomic<int>& NumThreads() {
    static std::atomic<int> num_threads{DefaultNumThreads()};
    return num_threads;
}

}  // namespace

int GetNumThreads() { return NumThreads().load(std::memory_order_relaxed); }

void SetNumThreads(int num_threads) {
    if (num_threads < 1) {
        throw std::invalid_argument{"num_threads must be at least 1, got " + std::to_string(num_threads)};
    }
    NumThreads().store(num_threads, std::memory_order_relaxed);
}

bool InParallelRegion() { return t_in_parallel; }

void ParallelFor(int64_t n, int64_t grain, FunctionRef<void(int64_t begin, int64_t end)> body) {
    // Chunks per thread: enough to balance threads of unequal speed, few enough to cost little.
    constexpr int64_t kChunksPerThread = 4;
    if (n <= 0) {
        return;
    }
    grain = std::max<int64_t>(grain, 1);
    int64_t threads = (n <= grain || t_in_parallel) ? 1 : GetNumThreads();
    if (threads > 1) {
        int64_t chunks = std::min(n / grain, threads * kChunksPerThread);
        if (chunks > 1) {
            Job job{body, n, chunks, static_cast<int>(std::min(threads, chunks)) - 1};
            if (GetPool().TryRun(job)) {
                if (job.error) {
                    std::rethrow_exception(job.error);
                }
                return;
            }
        }
    }
    body(0, n);
}

}  // namespace chainerx::native
