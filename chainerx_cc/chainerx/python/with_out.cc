#include "chainerx/python/with_out.h"

#include <string>

#include "chainerx/core/error.h"
#include "chainerx/core/kernels.h"
#include "chainerx/ops/elementwise.h"
#include "chainerx/python/doc.h"

namespace chainerx::python {

void CheckOut(const char* op, GraphMask operands, const Array& out) {
    internal::CheckInPlace(out, op);
    if (operands == 0) return;
    throw ChainerxError{op,
                        " with an operand that belongs to a computational graph cannot be recorded; "
                        "leave out `out`"};
}

void WriteOut(const char* op, const Array& result, const Array& out) {
    CheckDevices(result, out);
    if (result.shape() != out.shape()) {
        throw DimensionError{op, ": a result of shape ", result.shape(), " does not fit into shape ", out.shape()};
    }
    internal::CheckCanHold(op, out.dtype(), result.dtype());
    CopyData(result, out);
    out.body()->storage->BumpVersion();
}

void AddWithOut(const Binding& binding, const char* family, Routine routine) {
    std::string signature = std::string{routine.signature} + ", out=None";
    std::string doc = AddOut(routine.doc);
    routine.signature = signature.c_str();
    routine.doc = doc.c_str();
    AddRoutine(binding, family, routine);
}

}  // namespace chainerx::python
