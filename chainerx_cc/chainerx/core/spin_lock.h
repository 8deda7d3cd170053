#pragma once

#include <atomic>
#include <thread>

namespace chainerx {

// Guards a few instructions; never held while memory is allocated or a kernel runs.
class SpinLock {
public:
    void lock() noexcept {
        while (flag_.exchange(true, std::memory_order_acquire)) {
            // The thread that holds the lock may not be running.
            for (int spins = 0; flag_.load(std::memory_order_relaxed); ++spins) {
                if (spins >= 100) std::this_thread::yield();
            }
        }
    }
    void unlock() noexcept { flag_.store(false, std::memory_order_release); }

private:
    std::atomic<bool> flag_{false};
};

}  // namespace chainerx
