#include "chainerx/backends/native/kernels/gemm_blocks.h"

namespace chainerx::native {
namespace {

int64_t RoundedColumns(int64_t n) {
    int64_t rounded = 0;
    GetBlockColumns<float>(n, &rounded);
    return rounded;
}

}  // namespace

PackedBlockFactor::PackedBlockFactor(const BlockShape& shape, const BlockSource& source)
    : shape_{shape},
      columns_{RoundedColumns(shape.n)},
      words_{columns_ * shape.padded_k() * shape.bits / 32},
      scales_{columns_ * shape.blocks()} {
    if (source.zeros != nullptr) zeros_.emplace(columns_ * shape.blocks());
    PackBlockColumns<float>(source, {shape_, words_.data(), scales_.data(), zeros_ ? zeros_->data() : nullptr});
}

void PackedBlockFactor::Multiply(const BlockProduct& product) const {
    MultiplyBlocks<float>({shape_, words_.data(), scales_.data(), zeros_ ? zeros_->data() : nullptr}, product);
}

}  // namespace chainerx::native
