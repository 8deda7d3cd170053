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
Array Window(int64_t size, Dtype dtype, bool periodic, Device& device) {
    Array phase = Arange(Scalar{0}, Scalar{CheckedShape({size}, 8)[0]}, Scalar{1}, Dtype::kFloat64, device) *
                  Scalar{2 * std::acos(-1.0) / static_cast<double>(periodic ? size : std::max<int64_t>(size - 1, 1))};
    const double* a = kWindow.a;
    return Cast(Scalar{a[0]} - Scalar{a[1]} * Cos(phase) + Scalar{a[2]} * Cos(Scalar{2.0} * phase), dtype);
}

// The transform of the last axis, of numbers with a real and an imaginary part (or no array), as products with the
// matrix of its sines and cosines.
Array Fourier(const Array& real, const Array& imaginary, int64_t length, int64_t outputs, bool inverse) {
    int64_t inputs = real.shape().back();
    CheckedShape({inputs, outputs}, 8);
    Device& device = real.device();
    Array turns = Remainder(Steps(inputs, 1, device) * Steps(outputs, 0, device), Scalar{length});
    Array phase = Cast(turns, Dtype::kFloat64) * Scalar{2 * std::acos(-1.0) / static_cast<double>(length)};
    Array c = Cast(Cos(phase), real.dtype());
    Array s = Cast(Sin(inverse ? Negative(phase) : phase), real.dtype());
    Array re = Matmul(real, c);
    Array im = Negative(Matmul(real, s));
    if (imaginary) {
        re = re + Matmul(imaginary, s);
        im = im + Matmul(imaginary, c);
    }
    Array y = Stack({re, im}, re.ndim());
    return inverse ? y / Scalar{static_cast<double>(length)} : y;
}

Array Part(const Array& x, int64_t i) { return Squeeze(SliceAxis(x, x.ndim() - 1, i, i + 1), Axes{LastAxis(x)}); }

// Cuts the last axis, or adds zeros to it.
Array Resized(const Array& x, int64_t length) { return PadAxis(x, x.ndim() - 1, 0, length - x.shape().back()); }

Array Dft(const Array& x, const std::optional<int64_t>& dft_length, const std::optional<int8_t>& axis, Opset opset,
          bool inverse, bool onesided) {
    int8_t at = axis ? *axis : CheckAxis(opset < 20 ? 1 : -2, x.ndim());
    int8_t last = LastAxis(x);
    if (at == last || x.shape()[last] < 1 || x.shape()[last] > 2) throw ModelError{"the shape is ", x.shape()};
    Array moved = Moveaxis(x, Axes{at}, Axes{static_cast<int8_t>(last - 1)});
    int64_t n = x.shape()[at];
    bool is_half = inverse && onesided;
    int64_t length = dft_length.value_or(is_half ? 2 * (n - 1) : n);
    if (length < 1) throw ModelError{"the length is ", length};
    int64_t half = length / 2 + 1;
    Array parts[2];
    for (int64_t i = 0; i < x.shape()[last]; ++i) {
        parts[i] = Resized(Part(moved, i), is_half ? half : length);
        if (!is_half) continue;
        // The missing half is the conjugate of the first.
        Ints places;
        for (int64_t k = half; k < length; ++k) places.push_back(length - k);
        Array rest = Take(parts[i], places, last - 1);
        parts[i] = Concatenate({parts[i], i == 0 ? rest : Negative(rest)}, last - 1);
    }
    Array y = Fourier(parts[0], parts[1], length, onesided && !inverse ? half : length, inverse);
    if (is_half) y = SliceAxis(y, last, 0, 1);
    return Moveaxis(y, Axes{static_cast<int8_t>(last - 1)}, Axes{at});
}

Array Stft(const Array& signal, int64_t step, const Array& window, const std::optional<int64_t>& frame_length,
           bool onesided) {
    Array x = signal.ndim() == 2 ? ExpandDims(signal, 2) : signal;
    if (x.ndim() != 3 || x.shape()[2] < 1) throw ModelError{"the shape is ", signal.shape()};
    int64_t length = frame_length.value_or(window ? window.GetTotalSize() : 0);
    if (step < 1 || length < 1 || length > x.shape()[1]) throw ModelError{"the frames have ", length, " elements"};
    int64_t count = (x.shape()[1] - length) / step + 1;
    Shape frames = CheckedShape({x.shape()[0], count, length}, 16);
    Ints places;
    for (int64_t i = 0; i < count * length; ++i) places.push_back(i / length * step + i % length);
    Array parts[2];
    for (int64_t i = 0; i < std::min<int64_t>(x.shape()[2], 2); ++i) {
        parts[i] = Reshape(Take(Part(x, i), places, 1), frames);
        if (window) parts[i] = parts[i] * window;
    }
    return Fourier(parts[0], parts[1], length, onesided ? length / 2 + 1 : length, false);
}

}  // namespace

const OperatorTable kSignalsOperators = {
        {"BlackmanWindow", Call<Window<kBlackman>>, "size output_datatype periodic"},
        {"DFT", Call<Dft>, "dft_length axis inverse onesided"},
        {"HammingWindow", Call<Window<kHamming>>, "size output_datatype periodic"},
        {"HannWindow", Call<Window<kHann>>, "size output_datatype periodic"},
        {"STFT", Call<Stft>, "frame_step frame_length onesided"},
};

}  // namespace chainerx::onnx
