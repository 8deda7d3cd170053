// Products with matrices of few bits, in the layout of files.

#include "chainerx/ops/quantized_linear.h"

#include <algorithm>
#include <vector>

#include "chainerx/backends/native/kernels/allocator.h"
#include "chainerx/backends/native/kernels/gemm.h"
#include "chainerx/backends/native/kernels/quantized_rows.h"
#include "chainerx/backends/native/kernels/thread_pool.h"
#include "chainerx/backends/native/native_backend.h"
#include "chainerx/core/blocking.h"

namespace chainerx::native {
namespace {

// The number of multiplications above which the interpreter lock is released.
constexpr int64_t kQuantizedLinearBlocking = 262144;
// Rows of x up to which decoding for each few of them is faster than a product with decoded rows
constexpr int64_t kFewRows = 5;
// Elements of decoded rows that stay in the second-level cache
constexpr int64_t kTileElements = 1 << 16;
// Elements that are worth a thread
constexpr int64_t kQuantizedLinearGrain = 1 << 16;

QuantizedRows RowsOf(const Array& w, const Array& scale, const Array& zero, const QuantizedFormat& format, int64_t k) {
    return {w.shape()[0],
            k,
            std::min(format.block, std::max<int64_t>(k, 1)),
            format.bits,
            format.is_signed,
            w.shape()[1],
            reinterpret_cast<const uint8_t*>(w.raw_data()),
            scale.data<float>(),
            zero ? zero.data<float>() : nullptr};
}

std::vector<float> SumBlocks(const QuantizedRows& w, const float* x, int64_t m) {
    std::vector<float> sums(m * w.blocks());
    for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < w.k; ++j) sums[i * w.blocks() + j / w.block] += x[i * w.k + j];
    }
    return sums;
}

// Calls f(first, last) for parts of the rows, which are the same on any number of threads.
template <class F>
void ForTiles(const QuantizedRows& w, const F& f) {
    int64_t rows = std::clamp<int64_t>(kTileElements / (w.k + 1), 8, 64) / 8 * 8;
    ParallelFor((w.n + rows - 1) / rows, kQuantizedLinearGrain / (rows * w.k + 1) + 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) f(i * rows, std::min((i + 1) * rows, w.n));
    });
}

void MultiplyFew(const QuantizedRows& w, const float* x, int64_t m, float* y) {
    Scratch<float> arranged{m * ArrangedElements(w)};
    ArrangeForQuantizedRows<float>(w, x, m, arranged.data());
    std::vector<float> sums;
    if (w.zeros != nullptr) sums = SumBlocks(w, x, m);
    QuantizedOperand operand{arranged.data(), w.zeros != nullptr ? sums.data() : nullptr, m};
    ForTiles(w, [&](int64_t first, int64_t last) { MultiplyQuantizedRows<float>(w, first, last, operand, y); });
}

void MultiplyMany(const QuantizedRows& w, const float* x, int64_t m, float* y) {
    ForTiles(w, [&](int64_t first, int64_t last) {
        Scratch<float> decoded{(last - first) * w.k};
        DecodeQuantizedRows<float>(w, first, last, decoded.data());
        Gemm<float>(false, true, m, last - first, w.k, 1, x, w.k, decoded.data(), w.k, 0, y + first, w.n);
    });
}

void Multiply(const Array& x, const Array& w, const Array& scale, const Array& zero, const QuantizedFormat& format,
              const Array& y) {
    BlockingScope blocking{y.GetTotalSize() > kQuantizedLinearBlocking / (x.shape()[1] + 1)};
    QuantizedRows rows = RowsOf(w, scale, zero, format, x.shape()[1]);
    int64_t m = x.shape()[0];
    (m > kFewRows ? MultiplyMany : MultiplyFew)(rows, x.data<float>(), m, y.data<float>());
}

void Decode(const Array& w, const Array& scale, const Array& zero, const QuantizedFormat& format, const Array& out) {
    BlockingScope blocking{out.GetTotalSize() > kQuantizedLinearBlocking};
    QuantizedRows rows = RowsOf(w, scale, zero, format, out.shape()[1]);
    ParallelFor(rows.n, kQuantizedLinearGrain / (rows.k + 1) + 1, [&](int64_t begin, int64_t end) {
        DecodeQuantizedRows<float>(rows, begin, end, out.data<float>() + begin * rows.k);
    });
}

}  // namespace

const NativeKernels g_quantized_linear_kernels{[](Backend& backend) {
    kQuantizedLinearKernel.Register(backend, &Multiply);
    kDecodeRowsKernel.Register(backend, &Decode);
}};

}  // namespace chainerx::native
