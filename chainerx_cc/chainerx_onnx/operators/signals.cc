// Fourier transforms and windows of signals.

#include <cmath>
#include <complex>

#include "chainerx/ops/complex.h"
#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {
namespace {

// a[0] - a[1] cos(2 pi i / n) + a[2] cos(4 pi i / n)
constexpr double kBlackman[] = {0.42, 0.5, 0.08};
constexpr double kHamming[] = {25.0 / 46, 1 - 25.0 / 46, 0};
constexpr double kHann[] = {0.5, 0.5, 0};

template <const double (&a)[3]>
Array Window(int64_t size, Dtype dtype, bool periodic, Device& device) {
    Array phase = Arange(Scalar{0}, Scalar{CheckedShape({size}, 8)[0]}, Scalar{1}, Dtype::kFloat64, device) *
                  Scalar{2 * std::acos(-1.0) / static_cast<double>(periodic ? size : std::max<int64_t>(size - 1, 1))};
    return Cast(Scalar{a[0]} - Scalar{a[1]} * Cos(phase) + Scalar{a[2]} * Cos(Scalar{2.0} * phase), dtype);
}

// Numbers whose parts, or only the real ones, are along the last axis of x; as complex128 or float64 in host memory.
Array ComplexOf(const Array& x) {
    int64_t parts = x.ndim() == 0 ? 0 : x.shape().back();
    if (parts < 1 || parts > 2) throw ModelError{"the shape is ", x.shape()};
    Array host = InHostMemory(x);
    Array real = At(host, {Ellipsis{}, int64_t{0}});
    return parts == 1 ? real : real + Scalar{std::complex<double>{0, 1}} * At(host, {Ellipsis{}, int64_t{1}});
}

// The opposite, with the dtype of x and where it is.
Array PartsLike(const Array& x, const Array& numbers) {
    return Like(x, Stack({Real(numbers), Imag(numbers)}, numbers.ndim()));
}

Array Dft(const Array& x, const std::optional<int64_t>& dft_length, const std::optional<int8_t>& axis, Opset opset,
          bool inverse, bool onesided) {
    int8_t at = axis ? *axis : CheckAxis(opset < 20 ? 1 : -2, x.ndim());
    Array numbers = ComplexOf(x);
    if (at == numbers.ndim()) throw ModelError{"the shape is ", x.shape()};
    bool is_half = inverse && onesided;
    int64_t length = dft_length.value_or(is_half ? 2 * (x.shape()[at] - 1) : x.shape()[at]);
    if (length < 1) throw ModelError{"the length is ", length};
    Ints dims = ToVector(x.shape());
    dims[at] = length;
    CheckedShape(dims, sizeof(std::complex<double>));
    if (is_half) return Like(x, ExpandDims(Irfft(numbers, length, at), numbers.ndim()));
    Array y = inverse ? Ifft(numbers, length, at) : Fft(numbers, length, at);
    return PartsLike(x, onesided ? SliceAxis(y, at, 0, length / 2 + 1) : y);
}

Array Stft(const Array& signal, int64_t step, const Array& window, const std::optional<int64_t>& frame_length,
           bool onesided) {
    Array x = ComplexOf(signal.ndim() == 2 ? ExpandDims(signal, 2) : signal);
    if (x.ndim() != 2) throw ModelError{"the shape is ", signal.shape()};
    int64_t length = frame_length.value_or(window ? window.GetTotalSize() : 0);
    if (step < 1 || length < 1 || length > x.shape()[1]) throw ModelError{"the frames have ", length, " elements"};
    int64_t count = (x.shape()[1] - length) / step + 1;
    CheckedShape({x.shape()[0], count, length}, sizeof(std::complex<double>));
    Array frames = Take(x, Steps(count, 1, HostDevice()) * Scalar{step} + Steps(length, 0, HostDevice()), 1);
    Array y = Fft(window ? frames * InHostMemory(window) : frames);
    return PartsLike(signal, onesided ? SliceAxis(y, 2, 0, length / 2 + 1) : y);
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
