// Comparisons, logic and choices.

#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {
namespace {

Kernel Where(const Node&) {
    return [](const Inputs& in) { return chainerx::Where(in[0], in[1], in[2]); };
}

const Operator kOperators[] = {
        {"And", Binary<LogicalAnd>},
        {"Equal", Binary<Equal>},
        {"Greater", Binary<Greater>},
        {"GreaterOrEqual", Binary<GreaterEqual>},
        {"Less", Binary<Less>},
        {"LessOrEqual", Binary<LessEqual>},
        {"Not", Unary<LogicalNot>},
        {"Or", Binary<LogicalOr>},
        {"Where", Where},
        {"Xor", Binary<LogicalXor>},
};

}  // namespace

CHAINERX_ONNX_FAMILY(Logic)

}  // namespace chainerx::onnx
