// Fourier transforms and windows of signals.

#include <cmath>

#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {
namespace {

// a[0] - a[1] cos(2 pi i / n) + a[2] cos(4 pi i / n)
struct CosineWindow {
    double a[3];
};
constexpr CosineWindow kBlackman{{0.42, 0.5, 0.08}};
constexpr CosineWindow kHamming{{25.0 / 46, 1 - 25.0 / 46, 0}};
constexpr CosineWindow kHann{{0.5, 0.5, 0}};

template <const CosineWindow& kWindow>
Kernel Window(const Node& node) {
    Dtype dtype = DtypeOf(static_cast<int32_t>(node.Int("output_datatype")));
    bool periodic = node.Flag("periodic");
    IntsParameter size{node, "size"};
    Device* device = &node.device();
    return [dtype, periodic, size, device](const Inputs& in) {
        int64_t n = size.ReadOne(in);
        Array out = Empty(CheckedShape({n}, 8), Dtype::kFloat64, HostDevice());
        double turn = 2 * std::acos(-1.0) / static_cast<double>(periodic ? n : std::max<int64_t>(n - 1, 1));
        for (int64_t i = 0; i < n; ++i) {
            double phase = turn * static_cast<double>(i);
            out.data<double>()[i] = kWindow.a[0] - kWindow.a[1] * std::cos(phase) + kWindow.a[2] * std::cos(2 * phase);
        }
        return ToDevice(Cast(out, dtype), *device);
    };
}

// The transform of the last axis, of numbers with a real and an imaginary part (or no array), as products with the
// matrix of its sines and cosines.
struct Fourier {
    int64_t length;
    int64_t outputs;
    bool inverse;

    Array operator()(const Array& real, const Array& imaginary) const {
        Shape shape = CheckedShape({real.shape()[real.ndim() - 1], outputs}, 8);
        Array cos = Empty(shape, Dtype::kFloat64, HostDevice());
        Array sin = Empty(shape, Dtype::kFloat64, HostDevice());
        double turn = 2 * std::acos(-1.0) / static_cast<double>(length);
        for (int64_t k = 0; k < shape[0]; ++k) {
            for (int64_t m = 0; m < outputs; ++m) {
                double phase = turn * static_cast<double>(k * m % length);
                cos.data<double>()[k * outputs + m] = std::cos(phase);
                sin.data<double>()[k * outputs + m] = inverse ? -std::sin(phase) : std::sin(phase);
            }
        }
        Array c = ToDevice(Cast(cos, real.dtype()), real.device());
        Array s = ToDevice(Cast(sin, real.dtype()), real.device());
        Array re = Matmul(real, c);
        Array im = Negative(Matmul(real, s));
        if (imaginary) {
            re = re + Matmul(imaginary, s);
            im = im + Matmul(imaginary, c);
        }
        Array y = Stack({re, im}, re.ndim());
        return inverse ? y / Scalar{static_cast<double>(length)} : y;
    }
};

Array Part(const Array& x, int64_t i) {
    return Squeeze(SliceAxis(x, x.ndim() - 1, i, i + 1), Axes{static_cast<int8_t>(x.ndim() - 1)});
}

// Cuts the last axis, or adds zeros to it.
Array Resized(const Array& x, int64_t length) {
    int axis = x.ndim() - 1;
    int64_t n = x.shape()[axis];
    if (length <= n) return SliceAxis(x, axis, 0, length);
    std::vector<int64_t> dims = ToVector(x.shape());
    dims[axis] = length;
    CheckedShape(dims, 8);
    std::vector<std::vector<int64_t>> widths(x.ndim(), {0, 0});
    widths[axis] = {0, length - n};
    return Pad(x, Sides<int64_t>{widths});
}

Kernel Dft(const Node& node) {
    int64_t axis = node.opset() < 20 ? 1 : -2;
    bool inverse = node.Flag("inverse");
    bool onesided = node.Flag("onesided");
    IntsParameter given{node, "dft_length"};
    IntsParameter on{node, "axis"};
    return [=](const Inputs& in) {
        const Array& x = in[0];
        int8_t at = CheckAxis(on.ReadOne(in, axis), x.ndim());
        int8_t last = static_cast<int8_t>(x.ndim() - 1);
        if (at == last || x.shape()[last] < 1 || x.shape()[last] > 2) throw ModelError{"the shape is ", x.shape()};
        Array moved = Moveaxis(x, Axes{at}, Axes{static_cast<int8_t>(last - 1)});
        Array real = Part(moved, 0);
        Array imaginary = x.shape()[last] == 2 ? Part(moved, 1) : Array{};
        int64_t n = x.shape()[at];
        bool is_half = inverse && onesided;
        int64_t length = given.is_given() ? given.ReadOne(in) : is_half ? 2 * (n - 1) : n;
        if (length < 1) throw ModelError{"the length is ", length};
        int64_t half = length / 2 + 1;
        real = Resized(real, is_half ? half : length);
        if (imaginary) imaginary = Resized(imaginary, is_half ? half : length);
        if (is_half && length - half > 0) {
            // The missing half is the conjugate of the first.
            std::vector<int64_t> places;
            for (int64_t k = half; k < length; ++k) places.push_back(length - k);
            real = Concatenate({real, Take(real, places, last - 1)}, last - 1);
            if (imaginary) imaginary = Concatenate({imaginary, Negative(Take(imaginary, places, last - 1))}, last - 1);
        }
        Fourier transform{length, onesided && !inverse ? half : length, inverse};
        Array y = transform(real, imaginary);
        if (is_half) y = SliceAxis(y, last, 0, 1);
        return Moveaxis(y, Axes{static_cast<int8_t>(last - 1)}, Axes{at});
    };
}

Kernel Stft(const Node& node) {
    bool onesided = node.Flag("onesided");
    IntsParameter step{node, "frame_step"};
    IntsParameter given{node, "frame_length"};
    return [=](const Inputs& in) {
        Array x = in[0];
        if (x.ndim() == 2) x = ExpandDims(x, 2);
        if (x.ndim() != 3 || x.shape()[2] < 1) throw ModelError{"the shape is ", in[0].shape()};
        int64_t by = step.ReadOne(in);
        int64_t length = given.is_given() ? given.ReadOne(in) : in.Has(2) ? in[2].GetTotalSize() : 0;
        if (by < 1 || length < 1 || length > x.shape()[1]) throw ModelError{"the frames have ", length, " elements"};
        int64_t count = (x.shape()[1] - length) / by + 1;
        CheckedShape({x.shape()[0], count, length}, 16);
        std::vector<int64_t> places;
        for (int64_t i = 0; i < count * length; ++i) places.push_back(i / length * by + i % length);
        Shape frames{x.shape()[0], count, length};
        Array parts[2];
        for (int64_t i = 0; i < std::min<int64_t>(x.shape()[2], 2); ++i) {
            parts[i] = Reshape(Take(Part(x, i), places, 1), frames);
            if (in.Has(2)) parts[i] = parts[i] * in[2];
        }
        return Fourier{length, onesided ? length / 2 + 1 : length, false}(parts[0], parts[1]);
    };
}

const Operator kOperators[] = {
        {"BlackmanWindow", Window<kBlackman>}, {"DFT", Dft},   {"HammingWindow", Window<kHamming>},
        {"HannWindow", Window<kHann>},         {"STFT", Stft},
};

}  // namespace

CHAINERX_ONNX_FAMILY(Signals)

}  // namespace chainerx::onnx
