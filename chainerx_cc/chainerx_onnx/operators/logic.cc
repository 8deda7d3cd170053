// Comparisons, logic and choices.

#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {
namespace {

template <const auto& kFunction>
Kernel Compare(const Node& node) {
    LegacyBroadcast align{node};
    return [align](const Inputs& in) { return kFunction(in[0], align(in[0], in[1])); };
}

Kernel Not(const Node&) {
    return [](const Inputs& in) { return LogicalNot(in[0]); };
}

Kernel Where(const Node&) {
    return [](const Inputs& in) { return chainerx::Where(in[0], in[1], in[2]); };
}

const Operator kOperators[] = {
        {"And", 2, 2, Compare<LogicalAnd>},
        {"Equal", 2, 2, Compare<Equal>},
        {"Greater", 2, 2, Compare<Greater>},
        {"GreaterOrEqual", 2, 2, Compare<GreaterEqual>},
        {"Less", 2, 2, Compare<Less>},
        {"LessOrEqual", 2, 2, Compare<LessEqual>},
        {"Not", 1, 1, Not},
        {"Or", 2, 2, Compare<LogicalOr>},
        {"Where", 3, 3, Where},
        {"Xor", 2, 2, Compare<LogicalXor>},
};

}  // namespace

CHAINERX_ONNX_FAMILY(Logic)

}  // namespace chainerx::onnx
