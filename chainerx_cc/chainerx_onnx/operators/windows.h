#pragma once

// Windows of convolutions and poolings as ONNX describes them.

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {

// A list attribute with an integer for each spatial axis.
inline Ints Spread(const Ints& values, size_t count, int64_t value) {
    if (values.empty()) return Ints(count, value);
    if (values.size() != count) throw ModelError{"an attribute has ", values.size(), " values for ", count, " axes"};
    for (int64_t v : values) {
        // Products and sums of sizes within 31 bits do not overflow.
        if (v < INT32_MIN || v > INT32_MAX) throw ModelError{"an attribute has the value ", v};
    }
    return values;
}

inline Shape ToShape(const Ints& values) { return Shape{values.begin(), values.end()}; }
inline PerAxis Sizes(const Ints& values) { return PerAxis{ToShape(values)}; }

// The attributes that windows have in common.
struct WindowAttributes {
    explicit WindowAttributes(const Node& node)
        : auto_pad{node.Choice("auto_pad")},
          pads{node.IntsOrNone("pads")},
          strides{node.IntsOrNone("strides")},
          dilations{node.IntsOrNone("dilations")},
          kernel{node.OptionalInts("kernel_shape")},
          ceil_mode{node.OptionalInt("ceil_mode").value_or(0) != 0} {}

    bool is_same() const { return auto_pad == kSameUpper || auto_pad == kSameLower; }

    enum { kNotSet, kSameUpper, kSameLower, kValid };
    int auto_pad;
    Ints pads;
    Ints strides;
    Ints dilations;
    std::optional<Ints> kernel;
    bool ceil_mode;  // of pooling
};

// The sizes of windows on an input.
struct Windows {
    Windows(const WindowAttributes& a, const Shape& shape, const Ints& kernel_sizes) {
        if (shape.ndim() < 2) throw ModelError{"the shape is ", shape};
        size_t count = shape.size() - 2;
        kernel = Spread(kernel_sizes, count, 1);
        strides = Spread(a.strides, count, 1);
        dilations = Spread(a.dilations, count, 1);
        Ints pads = Spread(a.pads, 2 * count, 0);
        for (size_t i = 0; i < count; ++i) {
            if (kernel[i] < 1 || strides[i] < 1 || dilations[i] < 1) {
                throw ModelError{"a window, stride or dilation is not positive"};
            }
            in.push_back(shape[static_cast<int64_t>(i) + 2]);
            spans.push_back((kernel[i] - 1) * dilations[i] + 1);
            bool is_given = a.auto_pad == WindowAttributes::kNotSet || a.auto_pad > WindowAttributes::kValid;
            before.push_back(is_given ? pads[i] : 0);
            behind.push_back(is_given ? pads[count + i] : 0);
            if (a.is_same()) {
                int64_t total = std::max<int64_t>(
                        ((in[i] + strides[i] - 1) / strides[i] - 1) * strides[i] + spans[i] - in[i], 0);
                before[i] = a.auto_pad == WindowAttributes::kSameUpper ? total / 2 : total - total / 2;
                behind[i] = total - before[i];
            }
        }
    }

    // Those of a kernel w (..., ..., spatial...) on an input of the shape x; without one, only what the kernel tells.
    static Windows OfKernel(const WindowAttributes& a, const Shape& w) { return OfKernel(a, w, w); }
    static Windows OfKernel(const WindowAttributes& a, const Shape& x, const Shape& w) {
        if (a.kernel && (w.ndim() < 2 || !std::equal(a.kernel->begin(), a.kernel->end(), w.begin() + 2, w.end()))) {
            throw ModelError{"its attribute 'kernel_shape' is not that of the kernel ", w};
        }
        if (w.ndim() != x.ndim() || x.ndim() < 2) throw ModelError{"the shapes are ", x, " and ", w};
        return {a, x, Ints{w.begin() + 2, w.end()}};
    }

    size_t count() const { return in.size(); }
    // How many windows there are along each axis.
    Ints Counts() const {
        Ints out;
        for (size_t i = 0; i < count(); ++i) {
            int64_t room = in[i] + before[i] + behind[i] - spans[i];
            out.push_back(room < 0 ? 0 : room / strides[i] + 1);
        }
        return out;
    }
    bool IsSymmetric() const {
        for (size_t i = 0; i < count(); ++i) {
            if (before[i] != behind[i] || before[i] < 0) return false;
        }
        return true;
    }

    Ints in;
    Ints kernel;
    Ints strides;
    Ints dilations;
    Ints spans;
    Ints before;
    Ints behind;
};

// Pads the spatial axes of x (N, C, ...) by a constant; negative widths cut.
inline Array PadSpatial(const Array& x, const Ints& before, const Ints& behind, const Scalar& value = Scalar{0}) {
    Widths widths = NoWidths(x.ndim());
    for (size_t i = 0; i < before.size(); ++i) widths[i + 2] = {before[i], behind[i]};
    return PadOrCut(x, widths, PadMode::kConstant, value);
}

// The opposite: negative widths pad.
inline Array CropSpatial(const Array& x, const Ints& before, const Ints& behind) {
    Widths widths = NoWidths(x.ndim());
    for (size_t i = 0; i < before.size(); ++i) widths[i + 2] = {-before[i], -behind[i]};
    return PadOrCut(x, widths);
}

}  // namespace chainerx::onnx
