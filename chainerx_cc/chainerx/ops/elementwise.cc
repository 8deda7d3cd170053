#include "chainerx/ops/elementwise.h"

#include <algorithm>

#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/reduction.h"

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
            if (IsInteger(dtype)) CheckScalarFits(x.scalar(), dtype);  // others take all numbers, without a call
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

void CheckExponent(const char* op, const Operand& x) {
    if (x.is_array() && (GetKind(x.array().dtype()) != DtypeKind::kInt || x.array().GetTotalSize() == 0)) return;
    Scalar lowest = x.is_array() ? AsScalar(AMin(x.array().AsDetached())) : x.scalar();
    if (lowest.kind() != DtypeKind::kInt || static_cast<int64_t>(lowest) >= 0) return;
    throw ValueError{op, ": integers to negative integer powers are not allowed, an exponent is ", lowest};
}

bool CountsBooleans(DtypeRule rule) {
    return rule == DtypeRule::kNumber || rule == DtypeRule::kCompare || rule == DtypeRule::kPower;
}

bool IsDtype(const Operand& x, Dtype dtype) { return x.is_array() && x.array().dtype() == dtype; }

// No dtype has all numbers of int64 and uint64.
bool ComparesInt64WithUInt64(const ElementwiseInfo& info, const Operand* inputs) {
    if (info.rule != DtypeRule::kCompare) return false;
    return (IsDtype(inputs[0], Dtype::kInt64) && IsDtype(inputs[1], Dtype::kUInt64)) ||
           (IsDtype(inputs[0], Dtype::kUInt64) && IsDtype(inputs[1], Dtype::kInt64));
}

// Numbers of uint64 that compare as those of int64 and uint64 do: zero for negative ones, one more for others. The two
// largest ones of uint64, which int64 does not have, become the same.
Array ToComparable(const Array& a) {
    Array x = a.AsDetached();
    Array bounded = x.dtype() == Dtype::kInt64 ? AsType(Maximum(x, Scalar{-1}), Dtype::kUInt64)
                                               : Minimum(x, Scalar{~uint64_t{1}});
    return bounded + Scalar{1};
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
            Dtype own = inputs[i].array().dtype();
            dtype = info.rule == DtypeRule::kCompare ? ComparisonDtype(dtype, own) : PromoteTypes(dtype, own);
            has_array = true;
        } else {
            scalar_kind = std::max(scalar_kind, inputs[i].scalar().kind());
        }
    }
    if (!has_array) {
        dtype = GetScalarDtype(scalar_kind);
    } else if (dtype == Dtype::kBool && scalar_kind == DtypeKind::kInt && CountsBooleans(info.rule)) {
        dtype = Dtype::kInt64;
    } else if (info.rule == DtypeRule::kCompare && scalar_kind >= DtypeKind::kFloat && !IsInexact(dtype)) {
        dtype = scalar_kind == DtypeKind::kFloat ? Dtype::kFloat64 : Dtype::kComplex128;
    } else {
        dtype = PromoteWithScalar(dtype, scalar_kind);
    }
    if (info.rule == DtypeRule::kFloat) dtype = ToFloatDtype(dtype);
    if (info.rule == DtypeRule::kShift && IsInteger(dtype)) dtype = ShiftedDtype(inputs[0], dtype);
    if (CHAINERX_UNLIKELY(!Contains(info.dtypes, dtype))) ThrowUnsupported(info, dtype);
    if (info.rule == DtypeRule::kPower && IsInteger(dtype)) CheckExponent(info.name, inputs[1]);
    return dtype;
}

Array RunElementwise(const ElementwiseInfo& info, const void* op, const Operand* inputs, int n) {
    if (CHAINERX_UNLIKELY(ComparesInt64WithUInt64(info, inputs))) {
        Array x1 = ToComparable(inputs[0].array());
        Array x2 = ToComparable(inputs[1].array());
        const Operand comparable[] = {x1, x2};
        return RunElementwise(info, op, comparable, n);
    }
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
    if (CHAINERX_UNLIKELY(ComparesInt64WithUInt64(info, inputs))) {
        Array x1 = ToComparable(inputs[0].array());
        Array x2 = ToComparable(inputs[1].array());
        const Operand comparable[] = {x1, x2};
        return RunElementwiseInto(info, op, comparable, n, out);
    }
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
