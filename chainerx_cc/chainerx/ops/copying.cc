// Copies: in another dtype, on another device, outside of graphs, into an array that exists.

#include <complex>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "chainerx/core/context.h"
#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/block_copies.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/structured.h"

namespace chainerx {

const CopyBlocksKernel kCopyBlocksKernel{"copy_blocks"};

Array AsType(const Array& a, Dtype dtype, bool copy) {
    if (a.dtype() == dtype && !copy) return a;
    Array out = Empty(a.shape(), dtype, a.device());
    CopyData(a, out);
    if (!IsInexact(dtype)) return out;  // gradients stop
    return internal::RecordView("astype", a, std::move(out),
                                [d = a.dtype()](const Array& gy) { return AsType(gy, d, false); });
}

CHAINERX_METHOD_ROUTINE(Copy, "copy", "a", "copy", R"(
A copy of the array, in C order.

Differentiable any number of times; see :meth:`~chainerx.ndarray.as_grad_stopped` for a copy outside of the graph.

Args:
    a (~chainerx.ndarray): Array of any dtype.

Returns:
    ~chainerx.ndarray: Array with its own data.

>>> x = chainerx.array([1, 2])
>>> y = chainerx.copy(x)
>>> x += 10
>>> y
array([1, 2], shape=(2,), dtype=int64, device='native:0')
>>> x.copy()
array([11, 12], shape=(2,), dtype=int64, device='native:0')
)");
Array Copy(const Array& a) {
    Array out = EmptyLike(a);
    CopyData(a, out);
    return internal::RecordView("copy", a, std::move(out), [](const Array& gy) { return gy; });
}

Array AsContiguous(const Array& a) { return a.IsContiguous() ? a : Copy(a); }

Array AsGradStopped(const Array& a, bool copy) {
    if (!copy) return a.AsDetached();
    Array out = EmptyLike(a);
    CopyData(a, out);
    return out;
}

Array AsGradStopped(const Array& a, const std::vector<BackpropId>& ids, bool copy) {
    GraphMask stop = 0;
    for (const BackpropId& id : ids) {
        a.context().CheckValidBackpropId(id);
        stop |= id.mask();
    }
    internal::DisableGraphsScope scope{stop};
    return copy ? Copy(a) : View(a);
}

Array ToDevice(const Array& a, Device& device) {
    if (&a.device() == &device) return a;
    if (&a.context() != &device.context()) throw ContextError{"cannot move an array to a device of another context"};
    NoteGraphBreak("an array moves to another device");
    Array src = a.AsDetached();
    Array contiguous = AsContiguous(src);
    Array out = Empty(a.shape(), a.dtype(), device);
    Device& from = a.device();
    if (device.CanAccess(from)) {
        CopyData(contiguous, out);
    } else if (from.HasHostMemory()) {
        device.CopyFromHost(out.raw_data(), contiguous.raw_data(), out.GetNBytes());
    } else if (device.HasHostMemory()) {
        from.CopyToHost(out.raw_data(), contiguous.raw_data(), out.GetNBytes());
    } else if (!device.CopyFromDevice(out.raw_data(), from, contiguous.raw_data(), out.GetNBytes())) {
        std::vector<char> host(out.GetNBytes());
        from.CopyToHost(host.data(), contiguous.raw_data(), out.GetNBytes());
        device.CopyFromHost(out.raw_data(), host.data(), out.GetNBytes());
    }
    return internal::RecordView("to_device", a, std::move(out),
                                [d = &a.device()](const Array& gy) { return ToDevice(gy, *d); });
}

Scalar AsScalar(const Array& a) {
    if (a.GetTotalSize() != 1) {
        throw DimensionError{"only an array with one element can become a Python number, shape was ", a.shape()};
    }
    NoteGraphBreak("the value of an array is read");
    alignas(16) char buffer[16];
    a.device().CopyToHost(buffer, a.raw_data(), a.GetItemSize());
    return VisitAnyDtype(a.dtype(), [&buffer](auto tag) -> Scalar {
        using T = typename decltype(tag)::type;
        const T& v = *reinterpret_cast<const T*>(buffer);
        if constexpr (kIsHalf<T>) {
            return static_cast<double>(v);
        } else if constexpr (kIsComplex<T>) {
            return std::complex<double>{v};
        } else {
            return v;
        }
    });
}

namespace {

// Whether every value of a dtype is one of another dtype, as NumPy sees it.
bool IsSafe(Dtype from, Dtype to) {
    if (IsInteger(from) && IsInexact(to)) {
        Dtype part = ToRealDtype(to);
        return GetItemSize(from) < GetItemSize(part) || part == Dtype::kFloat64;
    }
    return PromoteTypes(from, to) == to;
}

bool IsAllowed(Casting casting, Dtype from, Dtype to) {
    switch (casting) {
        case Casting::kNo:
        case Casting::kEquiv:
            return from == to;
        case Casting::kSafe:
            return IsSafe(from, to);
        case Casting::kSameKind:
            return GetKind(from) <= GetKind(to);
        case Casting::kUnsafe:
            break;
    }
    return true;
}

}  // namespace

CHAINERX_ROUTINE(CopyTo, "copyto", "dst, src, casting='no', where=True", "copy", R"(
Writes an array or a number into another array, where a condition holds.

Not differentiable.

Args:
    dst (~chainerx.ndarray): Array that is written to.
    src (~chainerx.ndarray or number): Values; they broadcast to the shape of ``dst``.
    casting (str): Conversions that are permitted, in NumPy's words: ``'no'``, ``'equiv'``, ``'safe'``,
        ``'same_kind'`` or ``'unsafe'``.
    where (~chainerx.ndarray or bool): Condition; it broadcasts to the shape of ``dst``.

Raises:
    ValueError: If ``casting`` has no meaning.
    ~chainerx.ChainerxError: If ``dst`` belongs to a graph.
    ~chainerx.DtypeError: If the conversion is not permitted.
    ~chainerx.DimensionError: If the shapes do not broadcast.

>>> x = chainerx.zeros(3)
>>> chainerx.copyto(x, 5, where=chainerx.array([True, False, True]))
>>> x
array([5., 0., 5.], shape=(3,), dtype=float32, device='native:0')
)");
void CopyTo(const Array& dst, const std::variant<Array, Scalar>& src, Casting casting,
            const std::variant<Array, bool>& where) {
    const Array* given = std::get_if<Array>(&src);
    Array source = given != nullptr ? *given : Full({}, std::get<Scalar>(src), dst.dtype(), dst.device());
    if (!IsAllowed(casting, source.dtype(), dst.dtype())) {
        throw DtypeError{"copyto: cannot convert from ",
                         source.dtype(),
                         " to ",
                         dst.dtype(),
                         " with casting='",
                         EnumWords<Casting>::kWords[static_cast<int>(casting)],
                         "'"};
    }
    const Array* condition = std::get_if<Array>(&where);
    if (condition == nullptr && !std::get<bool>(where)) return;
    internal::CheckInPlace(dst, "copyto");
    CheckDevices(dst, source);
    BroadcastStrides(source.shape(), source.strides(), dst.shape());  // raises when the shapes do not fit
    Array value = source.AsDetached();
    if (source.body()->storage.get() == dst.body()->storage.get()) value = Copy(value);
    if (condition != nullptr) value = Where(*condition, AsType(value, dst.dtype(), false), dst.AsDetached());
    if (value.ndim() > dst.ndim()) throw DimensionError{"copyto: the condition has more dimensions than the array"};
    CopyData(value, dst);
    dst.body()->storage->BumpVersion();
}

}  // namespace chainerx
