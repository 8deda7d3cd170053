#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {
namespace {

const Operator kOperators[] = {
        {"", 0, 0, nullptr},
};

}  // namespace

CHAINERX_ONNX_FAMILY(Signals)

}  // namespace chainerx::onnx
