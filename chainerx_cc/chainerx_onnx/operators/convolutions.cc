// Convolutions.

#include <algorithm>

#include "chainerx_onnx/operators/windows.h"

namespace chainerx::onnx {
namespace {

// The input of a convolution that the planner has joined with a sum: it is added to the result.
constexpr int kAddend = 3;

std::optional<Array> OptionalBias(const Inputs& in, int i) { return in.Optional(i); }

Array Convolve(const Array& x, const Array& w, const std::optional<Array>& b, const WindowAttributes& attributes,
               int64_t groups) {
    if (w.ndim() != x.ndim() || x.ndim() < 2) throw ModelError{"the shapes are ", x.shape(), " and ", w.shape()};
    Windows windows{attributes, x.shape(), Ints{w.shape().begin() + 2, w.shape().end()}};
    Array padded = x;
    Ints pad = windows.before;
    if (!windows.IsSymmetric()) {
        padded = PadSpatial(x, windows.before, windows.behind);
        pad.assign(windows.count(), 0);
    }
    return Conv(padded, w, b, PerAxis{ToShape(windows.strides)}, PerAxis{ToShape(pad)}, false, groups,
                PerAxis{ToShape(windows.dilations)});
}

Kernel ConvNode(const Node& node) {
    WindowAttributes attributes{node};
    int64_t groups = node.Int("group");
    auto kernel_shape = node.OptionalInts("kernel_shape");
    Array w = node.Constant(1);
    Array b = node.Constant(2);
    bool relu = node.relu;
    bool is_fixed = attributes.auto_pad == WindowAttributes::kNotSet || attributes.auto_pad == WindowAttributes::kValid;
    if (w && (b || !node.HasInput(2)) && is_fixed && w.ndim() >= 2 && IsFloat(w.dtype())) {
        CheckKernelShape(kernel_shape, w.shape());
        // The sizes of the input do not matter here.
        Windows windows{attributes, w.shape(), Ints{w.shape().begin() + 2, w.shape().end()}};
        auto is_negative = [](int64_t n) { return n < 0; };
        if (std::none_of(windows.before.begin(), windows.before.end(), is_negative) &&
            std::none_of(windows.behind.begin(), windows.behind.end(), is_negative)) {
            ConvOptions options;
            options.stride = PerAxis{ToShape(windows.strides)};
            options.pad = PerAxis{ToShape(windows.before)};
            options.end_pad = PerAxis{ToShape(windows.behind)};
            options.dilate = PerAxis{ToShape(windows.dilations)};
            options.groups = groups;
            options.use_relu = relu;
            PackedConvolution convolution{AsContiguous(w), b ? std::optional{AsContiguous(b)} : std::nullopt, options};
            node.Consume(1);
            node.Consume(2);
            if (!node.HasInput(kAddend)) return [convolution](const Inputs& in) { return convolution(in[0]); };
            PackedConvolution plain = convolution.WithoutRelu();
            return [convolution, plain, relu](const Inputs& in) {
                const Array& addend = in[kAddend];
                if (addend.shape() == convolution.OutShape(in[0].shape())) return convolution(in[0], addend);
                Array y = plain(in[0]) + addend;
                return relu ? Relu(y) : y;
            };
        }
    }
    return [attributes, groups, kernel_shape, relu](const Inputs& in) {
        CheckKernelShape(kernel_shape, in[1].shape());
        Array y = Convolve(in[0], in[1], OptionalBias(in, 2), attributes, groups);
        if (in.Has(kAddend)) y = y + in[kAddend];
        return relu ? Relu(y) : y;
    };
}

Kernel ConvTransposeNode(const Node& node) {
    WindowAttributes attributes{node};
    int64_t groups = node.Int("group");
    auto kernel_shape = node.OptionalInts("kernel_shape");
    Ints padding = node.IntsOrNone("output_padding");
    auto output_shape = node.OptionalInts("output_shape");
    return [=](const Inputs& in) {
        const Array& x = in[0];
        const Array& w = in[1];
        if (w.ndim() != x.ndim() || x.ndim() < 2) throw ModelError{"the shapes are ", x.shape(), " and ", w.shape()};
        CheckKernelShape(kernel_shape, w.shape());
        Windows windows{attributes, x.shape(), Ints{w.shape().begin() + 2, w.shape().end()}};
        size_t count = windows.count();
        Ints extra = Spread(padding, count, 0);
        Ints full;
        for (size_t i = 0; i < count; ++i) full.push_back(windows.strides[i] * (windows.in[i] - 1) + windows.spans[i]);
        Ints wanted;
        if (output_shape) {
            if (output_shape->size() < count)
                throw ModelError{"its output_shape has ", output_shape->size(), " values"};
            wanted.assign(output_shape->end() - static_cast<std::ptrdiff_t>(count), output_shape->end());
            wanted = Spread(wanted, count, 0);
        } else if (attributes.auto_pad == WindowAttributes::kSameUpper ||
                   attributes.auto_pad == WindowAttributes::kSameLower) {
            for (size_t i = 0; i < count; ++i) wanted.push_back(windows.in[i] * windows.strides[i]);
        }
        for (size_t i = 0; i < wanted.size(); ++i) {
            int64_t total = full[i] + extra[i] - wanted[i];
            int64_t less = total >> 1;  // rounds down, also if the output is larger
            windows.before[i] = attributes.auto_pad == WindowAttributes::kSameUpper ? less : total - less;
            windows.behind[i] = total - windows.before[i];
        }
        bool is_plain =
                windows.IsSymmetric() && std::all_of(extra.begin(), extra.end(), [](int64_t n) { return n == 0; });
        Ints pad = is_plain ? windows.before : Ints(count, 0);
        Ints size = full;
        for (size_t i = 0; i < count; ++i) size[i] -= 2 * pad[i];
        CheckedShape({x.shape()[0], w.shape()[1] * groups}, 1);
        Array y = ConvTranspose(x, w, is_plain ? OptionalBias(in, 2) : std::nullopt, PerAxis{ToShape(windows.strides)},
                                PerAxis{ToShape(pad)}, PerAxis{ToShape(size)}, groups,
                                PerAxis{ToShape(windows.dilations)});
        if (is_plain) return y;
        for (size_t i = 0; i < count; ++i) {
            windows.before[i] = -windows.before[i];
            windows.behind[i] = extra[i] - windows.behind[i];
        }
        y = PadSpatial(y, windows.before, windows.behind);
        if (!in.Has(2)) return y;
        Shape shape{in[2].GetTotalSize()};
        shape.resize(static_cast<int64_t>(count) + 1, 1);
        return y + Reshape(in[2], shape);
    };
}

Kernel CausalConvWithState(const Node& node) {
    int activation = node.Choice("activation", {"none", "silu", "swish"});
    return [activation](const Inputs& in) -> Arrays {
        const Array& w = in[1];
        Array x = in[0];
        if (x.ndim() != 3 || w.ndim() != 3) throw ModelError{"the shapes are ", x.shape(), " and ", w.shape()};
        int64_t count = w.shape()[2] - 1;
        Array past = in.Has(3) ? in[3] : Zeros(Shape{x.shape()[0], x.shape()[1], count}, x.dtype(), x.device());
        x = Concatenate({past, x}, 2);
        Array y = Conv(x, w, in.Optional(2), 1, 0, false, x.shape()[1]);
        if (activation != 0) y = y * Sigmoid(y);
        return {y, SliceAxis(x, 2, x.shape()[2] - count, x.shape()[2])};
    };
}

Kernel Col2Im(const Node& node) {
    WindowAttributes attributes{node};
    IntsParameter image_shape{node, "image_shape"};
    IntsParameter block_shape{node, "block_shape"};
    return [=](const Inputs& in) {
        const Array& x = in[0];
        Ints image = image_shape.Read(in);
        Ints block = block_shape.Read(in);
        Ints dims{1, 1};
        dims.insert(dims.end(), image.begin(), image.end());
        Windows windows{attributes, CheckedShape(dims, x.GetItemSize()), Spread(block, image.size(), 1)};
        if (x.ndim() != 3 || block.size() != image.size()) throw ModelError{"the shape is ", x.shape()};
        // The adjoint of gathering windows: a transposed convolution, with ones where a channel meets its tap.
        int64_t taps = ToShape(block).GetTotalSize();
        Shape steps;
        for (size_t i = 0; i < image.size(); ++i) {
            int64_t room = image[i] + windows.before[i] + windows.behind[i] - windows.spans[i];
            if (room < 0) throw ModelError{"the blocks are larger than the image"};
            steps.push_back(room / windows.strides[i] + 1);
        }
        if (taps < 1 || x.shape()[1] % taps != 0 || steps.GetTotalSize() != x.shape()[2]) {
            throw ModelError{"the shape ", x.shape(), " does not fit to the image and its blocks"};
        }
        int64_t batch = x.shape()[0] * (x.shape()[1] / taps);
        Shape columns{batch, taps};
        for (int64_t n : steps) columns.push_back(n);
        Shape kernel{taps, 1};
        for (int64_t n : block) kernel.push_back(n);
        Array w = Reshape(chainerx::Identity(taps, x.dtype(), x.device()), kernel);
        Ints full;
        for (size_t i = 0; i < image.size(); ++i) full.push_back(image[i] + windows.before[i] + windows.behind[i]);
        Array y = ConvTranspose(Reshape(x, columns), w, std::nullopt, PerAxis{ToShape(windows.strides)}, 0,
                                PerAxis{ToShape(full)}, 1, PerAxis{ToShape(windows.dilations)});
        for (size_t i = 0; i < image.size(); ++i) {
            windows.before[i] = -windows.before[i];
            windows.behind[i] = -windows.behind[i];
        }
        y = PadSpatial(y, windows.before, windows.behind);
        Shape out{x.shape()[0], x.shape()[1] / taps};
        for (int64_t n : image) out.push_back(n);
        return Reshape(y, out);
    };
}

const Operator kOperators[] = {
        {"CausalConvWithState", CausalConvWithState},
        {"Col2Im", Col2Im},
        {"Conv", ConvNode},
        {"ConvTranspose", ConvTransposeNode},
};

}  // namespace

CHAINERX_ONNX_FAMILY(Convolutions)

}  // namespace chainerx::onnx
