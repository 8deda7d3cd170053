// Convolutions.

#include <algorithm>

#include "chainerx_onnx/operators/windows.h"

namespace chainerx::onnx {
namespace {

// The input of a convolution that the planner has joined with a sum: it is added to the result.
constexpr int kAddend = 3;

Kernel ConvNode(const Node& node) {
    WindowAttributes attributes{node};
    int64_t groups = node.Int("group");
    Array w = node.Constant(1);
    Array b = node.Constant(2);
    auto rectify = [relu = node.relu, most = node.most](const Array& y) { return relu ? ClippedRelu(y, most) : y; };
    bool is_fixed = attributes.auto_pad == WindowAttributes::kNotSet || attributes.auto_pad == WindowAttributes::kValid;
    if (w && (b || !node.HasInput(2)) && is_fixed && w.ndim() >= 2 && IsFloat(w.dtype())) {
        Windows windows = Windows::OfKernel(attributes, w.shape());
        ConvOptions options;
        options.stride = Sizes(windows.strides);
        options.pad = Sizes(windows.before);
        options.end_pad = Sizes(windows.behind);
        options.dilate = Sizes(windows.dilations);
        options.groups = groups;
        options.use_relu = node.relu;
        options.most = node.most;
        PackedConvolution convolution{AsContiguous(w), b ? std::optional{AsContiguous(b)} : std::nullopt, options};
        node.Consume(1);
        node.Consume(2);
        if (!node.HasInput(kAddend)) return [convolution](const Inputs& in) { return convolution(in[0]); };
        PackedConvolution plain = convolution.WithoutRelu();
        return [convolution, plain, rectify](const Inputs& in) {
            const Array& addend = in[kAddend];
            if (addend.shape() == convolution.OutShape(in[0].shape())) return convolution(in[0], addend);
            return rectify(plain(in[0]) + addend);
        };
    }
    return [attributes, groups, rectify](const Inputs& in) {
        Windows windows = Windows::OfKernel(attributes, in[0].shape(), in[1].shape());
        bool is_plain = windows.IsSymmetric();
        Array x = is_plain ? in[0] : PadSpatial(in[0], windows.before, windows.behind);
        Array y = Conv(x, in[1], in.Optional(2), Sizes(windows.strides), is_plain ? Sizes(windows.before) : PerAxis{0},
                       false, groups, Sizes(windows.dilations));
        return rectify(in.Has(kAddend) ? y + in[kAddend] : y);
    };
}

Array ConvTransposeNode(const Array& x, const Array& w, const std::optional<Array>& b,
                        const WindowAttributes& attributes, int64_t groups, const std::optional<Ints>& padding,
                        const std::optional<Ints>& output_shape) {
    Windows windows = Windows::OfKernel(attributes, x.shape(), w.shape());
    size_t count = windows.count();
    Ints extra = Spread(padding.value_or(Ints{}), count, 0);
    Ints wanted = output_shape.value_or(Ints{});
    if (output_shape && wanted.size() < count) throw ModelError{"its output_shape has ", wanted.size(), " values"};
    if (output_shape) wanted = Spread(Ints{wanted.end() - static_cast<std::ptrdiff_t>(count), wanted.end()}, count, 0);
    Ints full;
    for (size_t i = 0; i < count; ++i) {
        full.push_back(windows.strides[i] * (windows.in[i] - 1) + windows.spans[i]);
        windows.behind[i] -= extra[i];
        if (!output_shape && !attributes.is_same()) continue;
        int64_t size = output_shape ? wanted[i] : windows.in[i] * windows.strides[i];
        int64_t total = full[i] + extra[i] - size;
        int64_t less = total >> 1;  // rounds down, also if the output is larger
        windows.before[i] = attributes.auto_pad == WindowAttributes::kSameUpper ? less : total - less;
        windows.behind[i] = full[i] - size - windows.before[i];
    }
    bool is_plain = windows.IsSymmetric();
    Ints pad = is_plain ? windows.before : Ints(count, 0);
    Ints size = full;
    for (size_t i = 0; i < count; ++i) size[i] -= 2 * pad[i];
    CheckedShape({x.shape()[0], w.shape()[1] * groups}, 1);
    Array y = ConvTranspose(x, w, is_plain ? b : std::nullopt, Sizes(windows.strides), Sizes(pad), Sizes(size), groups,
                            Sizes(windows.dilations));
    if (is_plain) return y;
    y = CropSpatial(y, windows.before, windows.behind);
    return b ? y + AsAxis(*b, static_cast<int64_t>(count)) : y;
}

enum class CausalActivation { kNone, kSilu, kSwish };

Arrays CausalConvWithState(const Array& input, const Array& w, const std::optional<Array>& b, const Array& past,
                           CausalActivation activation) {
    if (input.ndim() != 3 || w.ndim() != 3 || w.shape()[2] == 0) {
        throw ModelError{"the shapes are ", input.shape(), " and ", w.shape()};
    }
    int64_t count = w.shape()[2] - 1;
    Array x = past ? Concatenate({past, input}, 2) : PadAxis(input, 2, count, 0);
    Array y = Conv(x, w, b, 1, 0, false, x.shape()[1]);
    if (activation != CausalActivation::kNone) y = y * Sigmoid(y);
    return {y, SliceAxis(x, 2, x.shape()[2] - count, x.shape()[2])};
}

// The adjoint of gathering windows: a transposed convolution, with ones where a channel meets its tap.
Array Col2Im(const Array& x, const Ints& image, const Ints& block, const WindowAttributes& attributes) {
    Ints dims{1, 1};
    dims.insert(dims.end(), image.begin(), image.end());
    Windows windows{attributes, CheckedShape(dims, x.GetItemSize()), Spread(block, image.size(), 1)};
    if (x.ndim() != 3 || block.size() != image.size()) throw ModelError{"the shape is ", x.shape()};
    int64_t taps = ToShape(block).GetTotalSize();
    Ints steps = windows.Counts();
    if (taps < 1 || x.shape()[1] % taps != 0 || ToShape(steps).GetTotalSize() != x.shape()[2]) {
        throw ModelError{"the shape ", x.shape(), " does not fit to the image and its blocks"};
    }
    Shape columns{x.shape()[0] * (x.shape()[1] / taps), taps};
    Shape kernel{taps, 1};
    Shape out{x.shape()[0], x.shape()[1] / taps};
    Ints full;
    for (size_t i = 0; i < image.size(); ++i) {
        if (steps[i] == 0) throw ModelError{"the blocks are larger than the image"};
        columns.push_back(steps[i]);
        kernel.push_back(block[i]);
        out.push_back(image[i]);
        full.push_back(image[i] + windows.before[i] + windows.behind[i]);
    }
    Array w = Reshape(chainerx::Identity(taps, x.dtype(), x.device()), kernel);
    Array y = ConvTranspose(Reshape(x, columns), w, std::nullopt, Sizes(windows.strides), 0, Sizes(full), 1,
                            Sizes(windows.dilations));
    return Reshape(CropSpatial(y, windows.before, windows.behind), out);
}

}  // namespace

const OperatorTable kConvolutionsOperators = {
        {"CausalConvWithState", Call<CausalConvWithState>, "activation"},
        {"Col2Im", Call<Col2Im>, "image_shape block_shape"},
        {"Conv", ConvNode},
        {"ConvTranspose", Call<ConvTransposeNode>, "group output_padding output_shape"},
};

}  // namespace chainerx::onnx
