// Arrays taken apart.

#include <algorithm>
#include <variant>
#include <vector>

#include "chainerx/autograd/graph.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/structured.h"

namespace chainerx {
namespace {

std::vector<Array> SplitBefore(const Array& a, const std::vector<int64_t>& indices, int8_t ax) {
    int64_t length = a.shape()[ax];
    std::vector<Array> out;
    int64_t begin = 0;
    auto clamp = [length](int64_t i) { return std::min(std::max<int64_t>(i < 0 ? i + length : i, 0), length); };
    for (size_t i = 0; i <= indices.size(); ++i) {
        int64_t end = i < indices.size() ? clamp(indices[i]) : length;
        Shape shape = a.shape();
        shape[ax] = std::max<int64_t>(end - begin, 0);
        out.push_back(
                internal::MakeView(a, shape, a.strides(), a.offset() + (shape[ax] > 0 ? begin * a.strides()[ax] : 0)));
        begin = i < indices.size() ? clamp(indices[i]) : length;
    }
    if (GraphMask mask = internal::GetRecordMask(a)) {
        auto backward = [ax](BackwardContext& ctx) {
            std::vector<Array> grads;
            for (size_t i = 0; i < ctx.output_count(); ++i) grads.push_back(ctx.GradOrZeros(i));
            ctx.SetGrad(0, Concatenate(grads, ax));
        };
        auto* node = new FunctionObjectNode<decltype(backward)>{"split", mask, std::move(backward)};
        IntrusivePtr<OpNode> guard{node};
        node->AddInput(a, mask);
        for (const Array& part : out) node->AddOutput(part);
    }
    return out;
}

// Parts whose lengths differ by at most one, the longer ones first.
std::vector<Array> SplitEvenly(const char* name, const Array& a, int64_t sections, int8_t ax, bool equal) {
    int64_t length = a.shape()[ax];
    if (sections < 1) throw DimensionError{name, ": the number of sections must be positive, was ", sections};
    if (equal && length % sections != 0) {
        throw DimensionError{name, ": length ", length, " cannot be divided into ", sections, " equal sections"};
    }
    std::vector<int64_t> indices;
    for (int64_t i = 1; i < sections; ++i) {
        indices.push_back(i * (length / sections) + std::min(i, length % sections));
    }
    return SplitBefore(a, indices, ax);
}

std::vector<Array> SplitInto(const char* name, const Array& a, const Sections& sections, int64_t axis, bool equal) {
    int8_t ax = NormalizeAxis(axis, a.ndim());
    if (const int64_t* count = std::get_if<int64_t>(&sections)) return SplitEvenly(name, a, *count, ax, equal);
    return SplitBefore(a, std::get<std::vector<int64_t>>(sections), ax);
}

}  // namespace

CHAINERX_ROUTINE(Split, "split", "ary, indices_or_sections, axis=0", "", R"(
Parts of an array along an axis, as views.

Differentiable any number of times.

Args:
    ary (~chainerx.ndarray): Array of any dtype.
    indices_or_sections (int, sequence of int or array): Number of equal parts, or the indices at which parts begin.
    axis (int): Axis.

Returns:
    list of ~chainerx.ndarray: Views.

Raises:
    ~chainerx.DimensionError: If equal parts are not possible, or the axis is out of range.

>>> a, b = chainerx.split(chainerx.arange(5), [2])
>>> a
array([0, 1], shape=(2,), dtype=int32, device='native:0')
>>> b
array([2, 3, 4], shape=(3,), dtype=int32, device='native:0')
)");
std::vector<Array> Split(const Array& a, const Sections& sections, int64_t axis) {
    return SplitInto("split", a, sections, axis, true);
}

CHAINERX_ROUTINE(ArraySplit, "array_split", "ary, indices_or_sections, axis=0", "", R"(
Parts of an array along an axis, as views; like :func:`chainerx.split`, but parts need not be equal.

Of :math:`n` parts of a length :math:`l`, the first :math:`l \bmod n` are longer by one.

Differentiable any number of times.

Args:
    ary (~chainerx.ndarray): Array of any dtype.
    indices_or_sections (int, sequence of int or array): Number of parts, or the indices at which parts begin.
    axis (int): Axis.

Returns:
    list of ~chainerx.ndarray: Views.

Raises:
    ~chainerx.DimensionError: If the number of parts is not positive, or the axis is out of range.

>>> [part.tolist() for part in chainerx.array_split(chainerx.arange(5), 3)]
[[0, 1], [2, 3], [4]]
)");
std::vector<Array> ArraySplit(const Array& a, const Sections& sections, int64_t axis) {
    return SplitInto("array_split", a, sections, axis, false);
}

CHAINERX_ROUTINE(Vsplit, "vsplit", "ary, indices_or_sections", "", R"(
Parts of an array along axis 0, as views; see :func:`chainerx.split`.

Differentiable any number of times.

Args:
    ary (~chainerx.ndarray): Array of at least two dimensions.
    indices_or_sections (int, sequence of int or array): Number of equal parts, or the indices at which parts begin.

Returns:
    list of ~chainerx.ndarray: Views.

Raises:
    ~chainerx.DimensionError: If there are less than two dimensions, or equal parts are not possible.

>>> [part.shape for part in chainerx.vsplit(chainerx.ones((4, 3)), 2)]
[(2, 3), (2, 3)]
)");
std::vector<Array> Vsplit(const Array& a, const Sections& sections) {
    if (a.ndim() < 2) throw DimensionError{"vsplit: needs at least 2 dimensions, the array has shape ", a.shape()};
    return Split(a, sections, 0);
}

CHAINERX_ROUTINE(Hsplit, "hsplit", "ary, indices_or_sections", "", R"(
Parts of an array along axis 1 (axis 0 of one dimension), as views; see :func:`chainerx.split`.

Differentiable any number of times.

Args:
    ary (~chainerx.ndarray): Array of at least one dimension.
    indices_or_sections (int, sequence of int or array): Number of equal parts, or the indices at which parts begin.

Returns:
    list of ~chainerx.ndarray: Views.

Raises:
    ~chainerx.DimensionError: If there is no dimension, or equal parts are not possible.

>>> [part.shape for part in chainerx.hsplit(chainerx.ones((2, 5)), [1, 3])]
[(2, 1), (2, 2), (2, 2)]
)");
std::vector<Array> Hsplit(const Array& a, const Sections& sections) {
    return Split(a, sections, a.ndim() == 1 ? 0 : 1);
}

CHAINERX_ROUTINE(Dsplit, "dsplit", "ary, indices_or_sections", "", R"(
Parts of an array along axis 2, as views; see :func:`chainerx.split`.

Differentiable any number of times.

Args:
    ary (~chainerx.ndarray): Array of at least three dimensions.
    indices_or_sections (int, sequence of int or array): Number of equal parts, or the indices at which parts begin.

Returns:
    list of ~chainerx.ndarray: Views.

Raises:
    ~chainerx.DimensionError: If there are less than three dimensions, or equal parts are not possible.

>>> [part.shape for part in chainerx.dsplit(chainerx.ones((1, 2, 4)), 2)]
[(1, 2, 2), (1, 2, 2)]
)");
std::vector<Array> Dsplit(const Array& a, const Sections& sections) { return Split(a, sections, 2); }

}  // namespace chainerx
