#pragma once

#include "chainerx_onnx/registry.h"

namespace chainerx::onnx {

// A product with weights that FuseBlocks has found. Its inputs: x, integers (columns, inner), their scales and zero
// points (columns, blocks), the length of a block, and a bias.
extern const Operator kBlockProduct;

// The place of the bias, also of MatMulNBits.
constexpr int kBiasOfBlocks = 5;

// Whether a node is kBlockProduct or MatMulNBits.
bool IsBlockProduct(const Node& node);

}  // namespace chainerx::onnx
