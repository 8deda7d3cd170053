#include "chainerx/ops/elementwise.h"

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
    // The very same elements in the same order are safe to overwrite one by one.
    return !(a.raw_data() == b.raw_data() && a.shape() == b.shape() && a.strides() == b.strides());
}

}  // namespace

Dtype ResolveElementwiseDtype(const ElementwiseInfo& info, const Operand* inputs, int n) {
    int first = info.rule == DtypeRule::kSelect ? 1 : 0;
    bool has_array = false;
    bool has_scalar = false;
    Dtype dtype = Dtype::kBool;
    DtypeKind scalar_kind = DtypeKind::kBool;
    for (int i = first; i < n; ++i) {
        if (inputs[i].is_array()) {
            dtype = has_array ? PromoteTypes(dtype, inputs[i].array().dtype()) : inputs[i].array().dtype();
            has_array = true;
        } else {
            DtypeKind kind = inputs[i].scalar().kind();
            scalar_kind = has_scalar && scalar_kind > kind ? scalar_kind : kind;
            has_scalar = true;
        }
    }
    if (!has_array) {
        dtype = scalar_kind == DtypeKind::kBool  ? Dtype::kBool
                : scalar_kind == DtypeKind::kInt ? Dtype::kInt64
                                                 : Dtype::kFloat64;
    } else if (has_scalar) {
        dtype = PromoteWithScalar(dtype, scalar_kind);
    }
    if (info.rule == DtypeRule::kFloat) dtype = ToFloatDtype(dtype);
    if (info.rule == DtypeRule::kDivide && !IsFloat(dtype)) dtype = Dtype::kFloat64;
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
    if (GetKind(result) > GetKind(out.dtype()) && !(IsInteger(result) && IsInteger(out.dtype()))) {
        throw DtypeError{info.name, ": a result of dtype ", result, " cannot be written to an array of dtype ",
                         out.dtype()};
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
