// Positions in sorted vectors, and distinct elements.

#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/comparison.h"
#include "chainerx/ops/complex.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/indexing.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/reduction.h"
#include "chainerx/ops/sorting.h"

namespace chainerx {
namespace {

// The dtype in which an array and what is searched in it are compared.
Dtype SearchDtype(const Array& a, const std::variant<Array, Scalar>& v) {
    if (const Array* array = std::get_if<Array>(&v)) return ComparisonDtype(a.dtype(), array->dtype());
    if (IsFloat(a.dtype())) return a.dtype();
    const Scalar& number = std::get<Scalar>(v);
    if (number.kind() == DtypeKind::kFloat) return Dtype::kFloat64;
    bool is_negative = static_cast<double>(number) < 0;
    Dtype least = number.kind() == DtypeKind::kUInt ? Dtype::kUInt64 : is_negative ? Dtype::kInt64 : Dtype::kBool;
    return PromoteTypes(ToSumDtype(a.dtype()), least);
}

// Whether elements of a sorted vector stand before v. Not-a-number is larger than all numbers.
Array IsBefore(const Array& element, const Array& v, SearchSide side) {
    bool left = side == SearchSide::kLeft;
    Array before = left ? Less(element, v) : LessEqual(element, v);
    if (!IsFloat(v.dtype())) return before;
    return LogicalOr(before, left ? LogicalAnd(IsNan(v), Equal(element, element)) : IsNan(v));
}

// The stable order of the elements of a vector. Complex numbers are ordered by their real, then by their imaginary
// parts, those with a part that is not-a-number last.
Array StableOrder(const Array& x) {
    if (!IsComplex(x.dtype())) return Argsort(x);
    Array order = Argsort(Imag(x));
    for (const Array& key : {Real(x), IsNan(x)}) order = Take(order, Argsort(Take(key, order)));
    return order;
}

// The first elements of runs of equal ones in a sorted vector.
Array IsFirst(const Array& sorted, bool equal_nan) {
    Array one = BroadcastTo(Full({}, Scalar{true}, Dtype::kBool, sorted.device()), Shape{1});
    Array left = At(sorted, {Slice{{}, -1, {}}});
    Array right = At(sorted, {Slice{1, {}, {}}});
    Array differs = NotEqual(left, right);
    if (equal_nan && IsInexact(sorted.dtype())) differs = LogicalAnd(differs, Equal(left, left));
    return Concatenate({one, differs});
}

}  // namespace

CHAINERX_METHOD_ROUTINE(Searchsorted, "searchsorted", "a, v, side='left', sorter=None", "", R"(
Indices at which elements have to be inserted into a sorted vector, so that it stays sorted.

The index :math:`i` of :math:`v` has :math:`a_{i-1} < v \le a_i` on the left side, :math:`a_{i-1} \le v < a_i` on the
right side. Not-a-number is larger than all numbers. Not differentiable.

Args:
    a (~chainerx.ndarray): Vector of any dtype in ascending order.
    v (~chainerx.ndarray or number): Elements to insert, in any shape.
    side (str): Where they go if there are equal elements: ``'left'`` or ``'right'``.
    sorter (~chainerx.ndarray or None): Indices that sort ``a``, if it is not sorted, as
        :func:`chainerx.argsort` gives them.

Returns:
    ~chainerx.ndarray: Indices, of dtype int64 and the shape of ``v``.

Raises:
    ~chainerx.DimensionError: If ``a`` is no vector.
    ValueError: If ``side`` has no meaning.

>>> a = chainerx.array([1., 2., 2., 3.])
>>> chainerx.searchsorted(a, chainerx.array([0., 2., 9.]))
array([0, 1, 4], shape=(3,), dtype=int64, device='native:0')
>>> int(a.searchsorted(2, side='right'))
3
)");
Array Searchsorted(const Array& a, const std::variant<Array, Scalar>& v, SearchSide side,
                   const std::optional<Array>& sorter) {
    if (a.ndim() != 1) throw DimensionError{"searchsorted: a must have one dimension, has shape ", a.shape()};
    if (sorter.has_value() && sorter->shape() != a.shape()) {
        throw DimensionError{"searchsorted: sorter of shape ", sorter->shape(), " does not fit to a of shape ",
                             a.shape()};
    }
    Dtype dtype = SearchDtype(a, v);
    const Array* array = std::get_if<Array>(&v);
    if (array != nullptr) CheckDevices(a, *array);
    Array sorted = AsType(sorter.has_value() ? Take(a.AsDetached(), *sorter, 0) : a.AsDetached(), dtype, false);
    Array x = array != nullptr ? AsType(array->AsDetached(), dtype, false)
                               : FilledArray({}, std::get<Scalar>(v), dtype, a.device());
    Array out = Zeros(x.shape(), Dtype::kInt64, a.device());
    // All searches halve the same length, so that they take as many steps.
    for (int64_t length = a.GetTotalSize(); length > 0;) {
        int64_t half = (length + 1) / 2;
        Array probe = Take(sorted, out + Scalar{half - 1});
        out = out + AsType(IsBefore(probe, x, side), Dtype::kInt64) * Scalar{half};
        length -= half;
    }
    return out;
}

CHAINERX_ROUTINE(Unique, "unique", "ar, return_index=False, return_inverse=False, return_counts=False, equal_nan=True",
                 "", R"(
The distinct elements in ascending order, complex ones by their real, then by their imaginary parts.

Differentiable any number of times; the gradient of an element goes to its first occurrence.

Args:
    ar (~chainerx.ndarray): Array of any dtype; it is flattened.
    return_index (bool): Whether to return the indices of the first occurrences in the flattened array, too.
    return_inverse (bool): Whether to return the indices that make ``ar`` of the distinct elements, too, in its shape.
    return_counts (bool): Whether to return how often the elements occur, too.
    equal_nan (bool): Whether all not-a-number are one element.

Returns:
    ~chainerx.ndarray: The elements; or a tuple of them and what else is wanted, of dtype int64, in this order.

>>> x = chainerx.array([3, 1, 3])
>>> chainerx.unique(x)
array([1, 3], shape=(2,), dtype=int64, device='native:0')
>>> values, counts = chainerx.unique(x, return_counts=True)
>>> counts
array([1, 2], shape=(2,), dtype=int64, device='native:0')
)");
std::variant<Array, ArrayTuple> Unique(const Array& a, bool return_index, bool return_inverse, bool return_counts,
                                       bool equal_nan) {
    Array x = Ravel(a);
    Array order = StableOrder(x.AsDetached());
    Array is_first = x.GetTotalSize() == 0 ? Zeros({0}, Dtype::kBool, a.device())
                                           : IsFirst(Take(x.AsDetached(), order), equal_nan);
    Array start = Nonzero(is_first).front();
    Array first = Take(order, start);
    Array values = Take(x, first);
    ArrayTuple out{values};
    if (return_index) out.push_back(first);
    if (return_inverse) {
        Array inverse = EmptyLike(order);
        SetAt(inverse, {order}, Cumsum(is_first, 0) - Scalar{1});
        out.push_back(Reshape(inverse, a.shape()));
    }
    if (return_counts) {
        Array end = Full({1}, Scalar{x.GetTotalSize()}, Dtype::kInt64, a.device());
        out.push_back(Diff(Concatenate({start, end})));
    }
    if (out.size() == 1) return values;
    return out;
}

}  // namespace chainerx
