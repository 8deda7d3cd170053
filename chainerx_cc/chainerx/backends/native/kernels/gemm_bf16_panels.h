#pragma once

// The cuts of products of bfloat16, for kernels of several instruction sets.

#include <cstdint>

#include "chainerx/backends/native/kernels/allocator.h"
#include "chainerx/backends/native/kernels/gemm_bf16.h"
#include "chainerx/backends/native/kernels/thread_pool.h"

namespace chainerx::native {

// A product whose columns of B are cut into packed panels, and whose rows of A into blocks that stay in the
// second-level cache. If panels are few, blocks are so small that every thread gets some. Kernel cuts B into panels,
// packs one, and multiplies rows with it, some at a time. It is of an unnamed namespace, so every source has instances
// of its own, for its instruction set (see isa.h).
template <class Kernel>
class PanelProduct {
public:
    PanelProduct(int64_t m, int64_t n, int64_t k, const uint16_t* a, int64_t lda, const Bf16Matrix& b, float beta,
                 uint16_t* c, int64_t ldc)
        : m_{m},
          k_{k},
          a_{a},
          lda_{lda},
          b_{b},
          beta_{beta},
          c_{c},
          ldc_{ldc},
          panels_{n},
          step_{Kernel::Step(m)},
          steps_{(m + step_ - 1) / step_} {
        constexpr int64_t kRowElements = int64_t{1} << 17;
        int64_t most = kRowElements / (k + 1) / 8 * 8;
        most = most < 64 ? 64 : most;
        blocks_ = (m + most - 1) / most;
        is_cached_ = blocks_ == 1;
        int64_t threads = InParallelRegion() ? 1 : GetNumThreads();
        int64_t wanted = (threads + panels_.count() - 1) / panels_.count();
        blocks_ = blocks_ < wanted ? wanted : blocks_;
        blocks_ = blocks_ < steps_ ? blocks_ : steps_;
    }

    void Run() const {
        if (is_cached_) {
            RunPanelByPanel();
        } else {
            RunBlockByBlock();
        }
    }

private:
    // Packs a panel right before it is used.
    void RunPanelByPanel() const {
        ParallelFor(panels_.count() * blocks_, Grain(), [this](int64_t begin, int64_t end) {
            Scratch<uint16_t> panel{PanelSize()};
            for (int64_t i = begin; i < end; ++i) {
                Pack(i / blocks_, panel.data());
                Multiply(i / blocks_, panel.data(), i % blocks_);
            }
        });
    }

    // Packs all panels first.
    void RunBlockByBlock() const {
        int64_t count = panels_.count();
        Scratch<uint16_t> panels{count * PanelSize()};
        ParallelFor(count, 1 + (1 << 15) / (PanelSize() + 1), [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) Pack(i, panels.data() + i * PanelSize());
        });
        ParallelFor(count * blocks_, Grain(), [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
                Multiply(i % count, panels.data() + i % count * PanelSize(), i / count);
            }
        });
    }

    int64_t PanelSize() const { return Kernel::PanelSize(k_); }

    // Panels of a block that make a thread worthwhile.
    int64_t Grain() const {
        constexpr double kMinWork = 1 << 18;
        double work = static_cast<double>(m_) * static_cast<double>(k_) * Kernel::kColumns;
        return 1 + static_cast<int64_t>(kMinWork / (work / static_cast<double>(blocks_) + 1));
    }

    void Pack(int64_t panel, uint16_t* packed) const {
        Kernel::Pack(k_, b_, panels_.Column(panel), panels_.Columns(panel), packed);
    }

    void Multiply(int64_t panel, const uint16_t* packed, int64_t block) const {
        int64_t row = FirstRow(block);
        Kernel::Multiply(FirstRow(block + 1) - row, step_, panels_.Columns(panel), k_, a_ + row * lda_, lda_, packed,
                         beta_, c_ + row * ldc_ + panels_.Column(panel), ldc_);
    }

    // Of a block. Threads do not change which rows are in a tile, and so no bits.
    int64_t FirstRow(int64_t block) const {
        int64_t row = steps_ * block / blocks_ * step_;
        return row < m_ ? row : m_;
    }

    int64_t m_;
    int64_t k_;
    const uint16_t* a_;
    int64_t lda_;
    const Bf16Matrix& b_;
    float beta_;
    uint16_t* c_;
    int64_t ldc_;
    typename Kernel::Panels panels_;
    int64_t step_;   // rows of a tile
    int64_t steps_;  // tiles
    int64_t blocks_;
    bool is_cached_;  // whether all rows are one block
};

}  // namespace chainerx::native
