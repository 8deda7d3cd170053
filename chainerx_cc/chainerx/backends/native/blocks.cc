// Products with matrices of integers that are decoded while they are multiplied.

#include <algorithm>
#include <memory>
#include <vector>

#include "chainerx/backends/native/kernels/gemm_blocks.h"
#include "chainerx/backends/native/native_backend.h"
#include "chainerx/core/blocking.h"
#include "chainerx/core/operands.h"
#include "chainerx/ops/packed_blocks.h"

namespace chainerx::native {
namespace {

// The numbers of multiplications and of elements above which the interpreter lock is released.
constexpr int64_t kBlocksBlockingProducts = 1 << 20;
constexpr int64_t kBlocksBlockingElements = 1 << 16;

template <class T>
bool AreWithin(const Array& x, int least, int most) {
    const T* p = x.data<T>();
    int64_t rows = x.shape()[0];
    int64_t columns = x.shape()[1];
    for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < columns; ++j) {
            int value = p[i * x.strides()[0] + j * x.strides()[1]];
            if (value < least || value > most) return false;
        }
    }
    return true;
}

// Whether integers less their center have 4 bits, and their zero points 8.
template <class T>
bool AreNarrow(const Array& q, const Array& zeros) {
    constexpr int kCenter = std::is_signed_v<T> ? 0 : 8;
    return AreWithin<T>(q, kCenter - 8, kCenter + 7) && (!zeros || AreWithin<T>(zeros, kCenter - 128, kCenter + 127));
}

// Zero points less the center; none if all are zero.
template <class T>
std::vector<int8_t> ShiftedZeros(const Array& zeros, int center, int64_t count) {
    std::vector<int8_t> out(count);
    for (int64_t i = 0; i < count; ++i) out[i] = static_cast<int8_t>((zeros ? zeros.data<T>()[i] : 0) - center);
    if (std::all_of(out.begin(), out.end(), [](int8_t zero) { return zero == 0; })) out.clear();
    return out;
}

class NativeBlocks final : public PackedBlocks {
public:
    NativeBlocks(const BlockShape& shape, const BlockSource& source)
        : inner_{shape.k}, columns_{shape.n}, factor_{shape, source} {}

    void Run(const Array& x, const BlockEpilogue& epilogue, const Array& y) const override {
        BlockingScope blocking{y.GetTotalSize() > kBlocksBlockingProducts / (inner_ + 1)};
        BlockProduct product{};
        product.m = y.GetTotalSize() / columns_;
        product.a = x.data<float>();
        product.bias = epilogue.bias ? epilogue.bias.data<float>() : nullptr;
        product.relu = epilogue.use_relu;
        product.rounds_a = epilogue.rounds_x;
        product.y = y.data<float>();
        factor_.Multiply(product);
    }

private:
    int64_t inner_;
    int64_t columns_;
    PackedBlockFactor factor_;
};

template <class T>
std::unique_ptr<PackedBlocks> Pack(const Array& q, const Array& scales, const Array& zeros, int64_t block) {
    constexpr bool kIsSigned = std::is_signed_v<T>;
    int bits = AreNarrow<T>(q, zeros) ? 4 : 8;
    int center = kIsSigned ? 0 : 1 << (bits - 1);
    int64_t columns = q.shape()[0];
    int64_t inner = q.shape()[1];
    BlockShape shape{inner, columns, std::min(block, std::max<int64_t>(inner, 1)), bits};
    std::vector<int8_t> shifted = ShiftedZeros<T>(zeros, center, columns * shape.blocks());
    BlockSource source{q.raw_data(),
                       kIsSigned,
                       q.strides()[1],
                       q.strides()[0],
                       center,
                       scales.data<float>(),
                       shifted.empty() ? nullptr : shifted.data()};
    return std::make_unique<NativeBlocks>(shape, source);
}

std::unique_ptr<PackedBlocks> PackBlocks(const Array& q, const Array& scales, const Array& zeros, int64_t block) {
    BlockingScope blocking{q.GetTotalSize() > kBlocksBlockingElements};
    return q.dtype() == Dtype::kInt8 ? Pack<int8_t>(q, scales, zeros, block) : Pack<uint8_t>(q, scales, zeros, block);
}

}  // namespace

const NativeKernels g_block_kernels{[](Backend& backend) { kPackBlocksKernel.Register(backend, &PackBlocks); }};

}  // namespace chainerx::native
