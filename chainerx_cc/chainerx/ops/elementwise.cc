#include "chainerx/ops/elementwise.h"

#include <algorithm>

namespace chainerx::internal {
namespace {

const Array& FirstArray(const ElementwiseInfo& info, const Operand* inputs, int n) {
    for (int i = 0; i < n; ++i) {
        if (inputs[i].is_array()) return inputs[i].array();
    }
    throw TypeError{info.name, " needs at least one array among its arguments"};
}

[[noreturn]] void ThrowUnsupported(const ElementwiseInfo& info, Dtype dtype) {
    throw DtypeError{info.name, " does not support dtype ", dtype};
}

Dtype InputDtype(const ElementwiseInfo& info, Dtype dtype, int i) {
    return info.rule == DtypeRule::kSelect && i == 0 ? Dtype::kBool : dtype;
}

// Fills in the inputs; `casted` keeps converted ones alive.
void SetInputs(ElementwiseCall& call, const ElementwiseInfo& info, const Operand* inputs, int n, Device& device,
               Array* casted) {
    call.n_inputs = n;
    for (int i = 0; i < n; ++i) {
        Dtype dtype = InputDtype(info, call.dtype, i);
        const Operand& x = inputs[i];
        if (!x.is_array()) {
            CheckScalarFits(x.scalar(), dtype);
            x.scalar().Store(dtype, call.scalars[i]);
            call.in[i] = nullptr;
            continue;
        }
        const Array& a = x.array();
        if (CHAINERX_UNLIKELY(&a.device() != &device)) ThrowDeviceMismatch(device, a.device());
        if (CHAINERX_LIKELY(a.dtype() == dtype)) {
            call.in[i] = &a;
        } else {
            casted[i] = Empty(a.shape(), dtype, device);
            CopyData(a, casted[i]);
            call.in[i] = &casted[i];
        }
    }
}

Shape OutputShape(const ElementwiseCall& call) {
    const Shape* shape = nullptr;
    int i = 0;
    for (; shape == nullptr; ++i) {
        if (call.in[i] != nullptr) shape = &call.in[i]->shape();
    }
    Shape out = *shape;
    for (; i < call.n_inputs; ++i) {
        if (call.in[i] != nullptr && call.in[i]->shape() != out) out = BroadcastShapes(out, call.in[i]->shape());
    }
    return out;
}

bool MayOverlap(const Array& a, const Array& b) {
    if (a.body()->storage.get() != b.body()->storage.get()) return false;
    // Overwriting one by one is safe if both arrays have the same elements in the same order.
    return !(a.raw_data() == b.raw_data() && a.shape() == b.shape() && a.strides() == b.strides());
}

// Booleans are shifted as integers of the promoted dtype, numbers as int64.
Dtype ShiftedDtype(const Operand& x, Dtype promoted) {
    if (!x.is_array()) return Dtype::kInt64;
    return IsInteger(x.array().dtype()) ? x.array().dtype() : promoted;
}

}  // namespace

void CheckCanHold(const char* op, Dtype dtype, Dtype result) {
    if (CanHold(dtype, GetKind(result))) return;
    throw DtypeError{op, ": a result of dtype ", result, " cannot be written to an array of dtype ", dtype};
}

Dtype ResolveElementwiseDtype(const ElementwiseInfo& info, const Operand* inputs, int n) {
    int first = info.rule == DtypeRule::kSelect ? 1 : 0;
    bool has_array = false;
    Dtype dtype = Dtype::kBool;
    DtypeKind scalar_kind = DtypeKind::kBool;
    for (int i = first; i < n; ++i) {
        if (inputs[i].is_array()) {
            dtype = PromoteTypes(dtype, inputs[i].array().dtype());
            has_array = true;
        } else {
            scalar_kind = std::max(scalar_kind, inputs[i].scalar().kind());
        }
    }
    if (!has_array) {
        dtype = GetScalarDtype(scalar_kind);
    } else if (info.rule == DtypeRule::kNumber && dtype == Dtype::kBool && scalar_kind == DtypeKind::kInt) {
        dtype = Dtype::kInt64;
    } else {
        dtype = PromoteWithScalar(dtype, scalar_kind);
    }
    if (info.rule == DtypeRule::kFloat) dtype = ToFloatDtype(dtype);
    if (info.rule == DtypeRule::kShift && IsInteger(dtype)) dtype = ShiftedDtype(inputs[0], dtype);
    if (CHAINERX_UNLIKELY(!Contains(info.dtypes, dtype))) ThrowUnsupported(info, dtype);
    return dtype;
}

Array RunElementwise(const ElementwiseInfo& info, const void* op, const Operand* inputs, int n) {
    Device& device = FirstArray(info, inputs, n).device();
    Array casted[kMaxElementwiseInputs];
    ElementwiseCall call;
    call.op = op;
    call.dtype = ResolveElementwiseDtype(info, inputs, n);
    SetInputs(call, info, inputs, n, device, casted);
    Array out = Empty(OutputShape(call), info.bool_out ? Dtype::kBool : call.dtype, device);
    call.out = &out;
    (*info.kernel)(device, call);
    return out;
}

void RunElementwiseInto(const ElementwiseInfo& info, const void* op, const Operand* inputs, int n, const Array& out) {
    Device& device = out.device();
    Array casted[kMaxElementwiseInputs];
    ElementwiseCall call;
    call.op = op;
    call.dtype = ResolveElementwiseDtype(info, inputs, n);
    SetInputs(call, info, inputs, n, device, casted);
    Dtype result = info.bool_out ? Dtype::kBool : call.dtype;
    if (OutputShape(call) != out.shape() && BroadcastShapes(OutputShape(call), out.shape()) != out.shape()) {
        throw DimensionError{info.name, ": a result of shape ", OutputShape(call), " does not fit into shape ",
                             out.shape()};
    }
    CheckCanHold(info.name, out.dtype(), result);
    for (int i = 0; i < n && !info.bool_out; ++i) {
        if (!inputs[i].is_array() && !CanHold(out.dtype(), inputs[i].scalar().kind())) {
            throw DtypeError{info.name,   ": the number ", inputs[i].scalar(), " cannot change an array of dtype ",
                             out.dtype(), " in place"};
        }
    }
    bool direct = result == out.dtype();
    for (int i = 0; i < n; ++i) direct = direct && (call.in[i] == nullptr || !MayOverlap(*call.in[i], out));
    if (direct) {
        call.out = &out;
        (*info.kernel)(device, call);
    } else {
        Array temporary = Empty(out.shape(), result, device);
        call.out = &temporary;
        (*info.kernel)(device, call);
        CopyData(temporary, out);
    }
    out.body()->storage->BumpVersion();
}

}  // namespace chainerx::internal
