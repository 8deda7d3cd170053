// The threads of a block are coroutines, which switch at barriers. A stack runs one thread after the other until one
// waits, so kernels without barriers are plain loops on a single stack.

#include "grid.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <csetjmp>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <memory>
#include <vector>

namespace cuda_emulation {

Indices g_indices;

namespace {

constexpr size_t kStackBytes = 256 * 1024;

struct Barrier {
    unsigned waiting{0};
    unsigned generation{0};
};

struct Warp {
    Barrier barrier;
    unsigned alive{0};  // mask of the lanes that have not ended
    uint64_t slots[kWarpSize];
};

class Block;
Block* g_block;

// A stack, and the thread of the grid that runs on it now.
struct Coroutine {
    Coroutine() {
        stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (stack == MAP_FAILED) std::abort();
    }
    ~Coroutine() { munmap(stack, kStackBytes); }
    Coroutine(const Coroutine&) = delete;
    Coroutine& operator=(const Coroutine&) = delete;

    void* stack;
    bool started{false};
    jmp_buf state;
    unsigned thread{0};  // index in the block
};

class Block {
public:
    Block(dim3 size, const std::function<void()>& thread)
        : size_{size}, n_{size.x * size.y * size.z}, thread_{thread} {}

    void Run() {
        warps_.assign((n_ + kWarpSize - 1) / kWarpSize, Warp{});
        for (unsigned i = 0; i < n_; ++i) warps_[i / kWarpSize].alive |= 1U << i % kWarpSize;
        alive_ = n_;
        next_ = 0;
        barrier_ = Barrier{};
        Block* outer = g_block;
        g_block = this;
        waiting_.clear();
        while (alive_ != 0) {
            // Threads that wait run in turn; each looks whether its barrier is open.
            progress_ = false;
            for (size_t i = 0, n = waiting_.size(); i < n; ++i) Resume(waiting_[i]);
            Compact();
            while (next_ < n_) {
                Coroutine* c = Take();
                c->thread = next_++;
                Resume(c);
                if (!ended_) waiting_.push_back(c);
            }
            if (alive_ != 0 && !progress_) std::abort();  // threads wait for each other at different barriers
        }
        g_block = outer;
        if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    }

    void WaitAt(Barrier& barrier, unsigned wanted) {
        unsigned generation = barrier.generation;
        if (++barrier.waiting >= wanted) {
            Open(barrier);
            return;
        }
        while (barrier.generation == generation) Yield();
        progress_ = true;
    }

    void WaitForBlock() { WaitAt(barrier_, alive_); }
    void WaitForWarp() { WaitAt(warp().barrier, static_cast<unsigned>(__builtin_popcount(warp().alive))); }

    Warp& warp() { return warps_[current_->thread / kWarpSize]; }
    unsigned lane() const { return current_->thread % kWarpSize; }

private:
    // Runs threads of grids, one after the other, on a stack of its own, which outlives the block.
    static void Loop() {
        for (;;) {
            do {
                g_block->RunThread();
            } while (g_block->StartNext());
            g_block->ended_ = true;
            if (_setjmp(g_block->current_->state) == 0) _longjmp(g_block->scheduler_, 1);
        }
    }

    // Whether there is another thread, which the running stack goes on with.
    bool StartNext() {
        if (next_ == n_) return false;
        current_->thread = next_++;
        SetIndices(current_->thread);
        return true;
    }

    void RunThread() {
        try {
            thread_();
        } catch (...) {
            error_ = std::current_exception();
        }
        Warp& w = warp();
        w.alive &= ~(1U << lane());
        --alive_;
        progress_ = true;
        // Those that wait for the thread go on without it.
        if (barrier_.waiting != 0 && barrier_.waiting >= alive_) Open(barrier_);
        auto lanes = static_cast<unsigned>(__builtin_popcount(w.alive));
        if (w.barrier.waiting != 0 && w.barrier.waiting >= lanes) Open(w.barrier);
    }

    void Open(Barrier& barrier) {
        barrier.waiting = 0;
        ++barrier.generation;
        progress_ = true;
    }

    void Resume(Coroutine*& c) {
        current_ = c;
        ended_ = false;
        SetIndices(c->thread);
        if (_setjmp(scheduler_) == 0) {
            if (c->started) _longjmp(c->state, 1);
            c->started = true;
            ucontext_t context;
            getcontext(&context);
            context.uc_stack.ss_sp = c->stack;
            context.uc_stack.ss_size = kStackBytes;
            context.uc_link = nullptr;
            makecontext(&context, &Block::Loop, 0);
            setcontext(&context);
        }
        if (ended_) {
            Free().push_back(c);
            c = nullptr;
        }
    }

    void Yield() {
        if (_setjmp(current_->state) == 0) _longjmp(scheduler_, 1);
    }

    void Compact() {
        size_t n = 0;
        for (Coroutine* c : waiting_) {
            if (c != nullptr) waiting_[n++] = c;
        }
        waiting_.resize(n);
    }

    Coroutine* Take() {
        auto& free = Free();
        if (free.empty()) return (All().push_back(std::make_unique<Coroutine>()), All().back().get());
        Coroutine* c = free.back();
        free.pop_back();
        return c;
    }
    static std::vector<std::unique_ptr<Coroutine>>& All() {
        static std::vector<std::unique_ptr<Coroutine>> all;
        return all;
    }
    static std::vector<Coroutine*>& Free() {
        static std::vector<Coroutine*> free;
        return free;
    }

    void SetIndices(unsigned i) { g_indices.thread = dim3{i % size_.x, i / size_.x % size_.y, i / size_.x / size_.y}; }

    dim3 size_;
    unsigned n_;
    const std::function<void()>& thread_;
    std::vector<Warp> warps_;
    std::vector<Coroutine*> waiting_;
    Barrier barrier_;
    unsigned alive_{0};
    unsigned next_{0};
    bool progress_{false};
    bool ended_{false};  // the stack has no thread
    Coroutine* current_{nullptr};
    jmp_buf scheduler_;
    std::exception_ptr error_;
};

}  // namespace

void BlockBarrier() { g_block->WaitForBlock(); }
void WarpBarrier() { g_block->WaitForWarp(); }
unsigned Lane() { return g_block->lane(); }
uint64_t* WarpSlots() { return g_block->warp().slots; }

void RunGrid(dim3 grid, dim3 block, const std::function<void()>& thread) {
    Block runner{block, thread};
    g_indices.block_size = block;
    g_indices.grid_size = grid;
    for (unsigned z = 0; z < grid.z; ++z) {
        for (unsigned y = 0; y < grid.y; ++y) {
            for (unsigned x = 0; x < grid.x; ++x) {
                g_indices.block = dim3{x, y, z};
                runner.Run();
            }
        }
    }
}

}  // namespace cuda_emulation
