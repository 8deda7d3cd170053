// Pooling.

#include <limits>

#include "chainerx_onnx/operators/windows.h"

namespace chainerx::onnx {
namespace {

struct PoolAttributes : WindowAttributes {
    explicit PoolAttributes(const Node& node)
        : WindowAttributes{node}, kernel{node.Ints("kernel_shape")}, ceil_mode{node.Flag("ceil_mode")} {}
    Ints kernel;
    bool ceil_mode;
};

// The windows of a pooling, whose elements are strided slices of the padded input. Slices do what the functions of
// ChainerX cannot: padding that differs before and behind, dilation, and windows that begin inside and end outside.
struct PoolWindows : Windows {
    PoolWindows(const PoolAttributes& a, const Shape& shape) : Windows{a, shape, a.kernel} {
        for (size_t i = 0; i < count(); ++i) {
            int64_t room = in[i] + before[i] + behind[i] - spans[i];
            if (room < 0 && !(a.ceil_mode && room > -strides[i])) {
                throw ModelError{"the windows are larger than the input ", shape};
            }
            int64_t out = (a.ceil_mode ? (room + strides[i] - 1) / strides[i] : room / strides[i]) + 1;
            // A window has to begin before the padding behind.
            if (a.ceil_mode && (out - 1) * strides[i] >= in[i] + before[i]) --out;
            outs.push_back(out);
            // What the last windows need, which may be less or more than the padding that is given.
            needed.push_back((out - 1) * strides[i] + spans[i] - in[i] - before[i]);
        }
    }

    // Whether ChainerX's max pooling, whose padding is the same on both sides, has as many windows. What is beyond the
    // input never counts there.
    bool AreThoseOfMaxPool(bool cover_all) const {
        for (size_t i = 0; i < count(); ++i) {
            int64_t room = in[i] + 2 * before[i] - kernel[i];
            if (outs[i] < 1 || dilations[i] != 1 || before[i] < 0 || before[i] >= kernel[i] ||
                outs[i] != WindowGeometry::CountWindows(room, strides[i], cover_all)) {
                return false;
            }
        }
        return true;
    }

    // Whether its average pooling has the same windows with the same padding.
    bool AreThoseOfAveragePool() const { return AreThoseOfMaxPool(false) && needed == before; }

    Array Padded(const Array& x, const Scalar& value) const { return PadSpatial(x, before, needed, value); }

    // Calls f(offset, part) for each place in the window with the elements there of all windows.
    template <class F>
    void ForEachOffset(const Array& padded, F&& f) const {
        Ints offset(count(), 0);
        int64_t taps = ToShape(kernel).GetTotalSize();
        for (int64_t t = 0; t < taps; ++t) {
            int64_t rest = t;
            for (size_t i = count(); i-- > 0; rest /= kernel[i]) offset[i] = rest % kernel[i];
            ArrayIndices indices(2, Slice{});
            for (size_t i = 0; i < count(); ++i) {
                int64_t begin = offset[i] * dilations[i];
                indices.push_back(Slice{begin, begin + (outs[i] - 1) * strides[i] + 1, strides[i]});
            }
            f(offset, At(padded, indices));
        }
    }

    Array Sum(const Array& padded) const {
        Array y;
        ForEachOffset(padded, [&](const Ints&, const Array& part) { y = y ? y + part : part; });
        return y;
    }

    Ints outs;
    Ints needed;
};

Scalar Lowest(Dtype dtype) {
    if (IsFloat(dtype)) return Scalar{-std::numeric_limits<double>::infinity()};
    return VisitDtype(dtype, [](auto tag) -> Scalar {
        using T = typename decltype(tag)::type;
        if constexpr (std::is_integral_v<T>) {
            return Scalar{std::numeric_limits<T>::min()};
        } else {
            return Scalar{0};
        }
    });
}

Kernel MaxPoolNode(const Node& node) {
    PoolAttributes a{node};
    bool is_column_major = node.Flag("storage_order");
    bool wants_indices = node.HasOutput(1);
    return [a, is_column_major, wants_indices](const Inputs& in) -> Arrays {
        const Array& x = in[0];
        PoolWindows windows{a, x.shape()};
        bool cover_all = !windows.AreThoseOfMaxPool(false);
        if (!wants_indices && IsFloat(x.dtype()) && (!cover_all || windows.AreThoseOfMaxPool(true))) {
            return {MaxPool(x, PerAxis{ToShape(windows.kernel)}, PerAxis{ToShape(windows.strides)},
                            PerAxis{ToShape(windows.before)}, cover_all)};
        }
        size_t count = windows.count();
        Ints weights(count, 1);
        for (size_t i = 1; i < count; ++i) {
            if (is_column_major) {
                weights[i] = weights[i - 1] * windows.in[i - 1];
            } else {
                weights[count - 1 - i] = weights[count - i] * windows.in[count - i];
            }
        }
        Array best;
        Array places;
        windows.ForEachOffset(windows.Padded(x, Lowest(x.dtype())), [&](const Ints& offset, const Array& part) {
            if (!wants_indices) {
                best = best ? Maximum(best, part) : part;
                return;
            }
            Array place = Full(Shape{}, Scalar{0}, Dtype::kInt64, x.device());
            for (size_t i = 0; i < count; ++i) {
                Array steps = Arange(Scalar{0}, Scalar{windows.outs[i]}, Scalar{1}, Dtype::kInt64, x.device());
                steps = (steps * Scalar{windows.strides[i]} +
                         Scalar{offset[i] * windows.dilations[i] - windows.before[i]}) *
                        Scalar{weights[i]};
                Shape shape{windows.outs[i]};
                shape.resize(static_cast<int64_t>(count - i), 1);
                place = place + Reshape(steps, shape);
            }
            Array is_better = best ? Greater(part, best) : Array{};
            places = best ? Where(is_better, place, places) : BroadcastTo(place, part.shape());
            best = best ? Where(is_better, part, best) : part;
        });
        if (!wants_indices) return {best};
        int64_t images = x.shape()[0] * x.shape()[1];
        Shape shape{x.shape()[0], x.shape()[1]};
        shape.resize(x.ndim(), 1);
        Array first = Arange(Scalar{0}, Scalar{images}, Scalar{1}, Dtype::kInt64, x.device()) *
                      Scalar{ToShape(windows.in).GetTotalSize()};
        return {best, places + Reshape(first, shape)};
    };
}

Kernel AveragePoolNode(const Node& node) {
    PoolAttributes a{node};
    bool include_pad = node.Flag("count_include_pad");
    return [a, include_pad](const Inputs& in) {
        const Array& x = in[0];
        PoolWindows windows{a, x.shape()};
        if (windows.AreThoseOfAveragePool()) {
            return AveragePool(x, PerAxis{ToShape(windows.kernel)}, PerAxis{ToShape(windows.strides)},
                               PerAxis{ToShape(windows.before)},
                               include_pad ? PoolPadding::kZero : PoolPadding::kIgnore);
        }
        // How many elements each window has; padding that rounding up adds counts in no case.
        Shape one = x.shape();
        one[0] = one[1] = 1;
        Ints given = windows.behind;
        Ints rest = windows.needed;
        for (size_t i = 0; i < windows.count(); ++i) {
            given[i] = std::min(windows.behind[i], windows.needed[i]);
            rest[i] = windows.needed[i] - given[i];
        }
        Array ones =
                PadSpatial(Ones(one, x.dtype(), x.device()), windows.before, given, Scalar{include_pad ? 1.0 : 0.0});
        ones = PadSpatial(ones, Ints(windows.count(), 0), rest);
        return windows.Sum(windows.Padded(x, Scalar{0})) / Maximum(windows.Sum(ones), Scalar{1});
    };
}

// Opset 1 has it as a floating point number.
double PowerOf(const Node& node) { return node.opset() < 2 ? node.Float("p") : static_cast<double>(node.Int("p")); }

Kernel LpPool(const Node& node) {
    PoolAttributes a{node};
    double p = PowerOf(node);
    return [a, p](const Inputs& in) {
        PoolWindows windows{a, in[0].shape()};
        return Power(windows.Sum(windows.Padded(Power(Absolute(in[0]), Scalar{p}), Scalar{0})), Scalar{1 / p});
    };
}

Axes SpatialAxes(const Array& x) {
    Axes axes;
    for (int8_t i = 2; i < x.ndim(); ++i) axes.push_back(i);
    return axes;
}

Kernel GlobalAveragePool(const Node&) {
    return [](const Inputs& in) { return Mean(in[0], SpatialAxes(in[0]), true); };
}

Kernel GlobalMaxPool(const Node&) {
    return [](const Inputs& in) { return AMax(in[0], SpatialAxes(in[0]), true); };
}

Kernel GlobalLpPool(const Node& node) {
    double p = PowerOf(node);
    return [p](const Inputs& in) {
        return Power(Sum(Power(Absolute(in[0]), Scalar{p}), SpatialAxes(in[0]), true), Scalar{1 / p});
    };
}

Kernel MaxUnpool(const Node& node) {
    WindowAttributes a{node};
    Ints kernel = node.Ints("kernel_shape");
    IntsParameter wanted{node, "output_shape"};
    return [a, kernel, wanted](const Inputs& in) {
        const Array& x = in[0];
        Windows windows{a, x.shape(), kernel};
        std::vector<int64_t> inner{x.shape()[0], x.shape()[1]};
        for (size_t i = 0; i < windows.count(); ++i) {
            inner.push_back((windows.in[i] - 1) * windows.strides[i] + windows.kernel[i] - windows.before[i] -
                            windows.behind[i]);
        }
        Shape from = CheckedShape(inner, x.GetItemSize());
        Shape to = wanted.is_given() ? CheckedShape(wanted.Read(in), x.GetItemSize()) : from;
        if (to.ndim() != from.ndim()) throw ModelError{"the shape of the output is ", to};
        Array indices = Ravel(in[1]);
        if (indices.GetTotalSize() != x.GetTotalSize()) throw ModelError{"the indices have the shape ", in[1].shape()};
        // The indices count in the shape that pooling would have had.
        std::vector<int64_t> places = ReadInts(indices);
        for (int64_t& place : places) {
            if (place < 0 || place >= from.GetTotalSize()) throw ModelError{"an index is ", place};
            int64_t flat = 0;
            int64_t rest = place;
            int64_t stride = 1;
            for (int d = from.ndim() - 1; d >= 0; --d) {
                int64_t at = rest % from[d];
                if (at >= to[d]) throw ModelError{"an index is ", place};
                flat += at * stride;
                stride *= to[d];
                rest /= from[d];
            }
            place = flat;
        }
        Array zeros = Zeros(Shape{to.GetTotalSize()}, x.dtype(), x.device());
        return Reshape(AddAt(zeros, ToDevice(IntsArray(places), x.device()), Ravel(x)), to);
    };
}

const Operator kOperators[] = {
        {"AveragePool", AveragePoolNode},
        {"GlobalAveragePool", GlobalAveragePool},
        {"GlobalLpPool", GlobalLpPool},
        {"GlobalMaxPool", GlobalMaxPool},
        {"LpPool", LpPool},
        {"MaxPool", MaxPoolNode},
        {"MaxUnpool", MaxUnpool},
};

}  // namespace

CHAINERX_ONNX_FAMILY(Pooling)

}  // namespace chainerx::onnx
