// Images: changes of their sizes, and samples at the points of a grid.

#include <cmath>

#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {
namespace {

enum Mode { kNearest, kLinear, kCubic };

// In the order of attribute_values.txt.
constexpr double (*kRoundings[])(double) = {
        [](double x) { return std::ceil(x - 0.5); },
        [](double x) { return std::floor(x + 0.5); },
        [](double x) { return std::floor(x); },
        [](double x) { return std::ceil(x); },
};
constexpr int kFloor = 2;

struct Resampling {
    int mode{kNearest};
    int rounding{kFloor};
    bool antialias{false};
    bool exclude_outside{false};
    double a{-0.75};  // of the cubic kernel

    double Weight(double distance) const {
        double d = std::abs(distance);
        if (mode == kLinear) return std::max(1 - d, 0.0);
        if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
        return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
    }

    // Values along an axis at places between elements.
    Array operator()(const Array& x, int8_t axis, const std::vector<double>& places, double scale) const {
        int64_t length = x.shape()[axis];
        auto n = static_cast<int64_t>(places.size());
        if (length == 0) throw ModelError{"the shape ", x.shape(), " has an empty axis"};
        auto inside = [length](double i) {
            return static_cast<int64_t>(std::min(std::max(i, 0.0), static_cast<double>(length - 1)));
        };
        if (mode == kNearest) {
            std::vector<int64_t> nearest;
            for (double place : places) nearest.push_back(inside(kRoundings[rounding](place)));
            return Take(x, nearest, axis);
        }
        // A matrix that interpolates a row.
        double stretch = antialias ? std::max(1.0, 1 / scale) : 1.0;
        auto reach = static_cast<int64_t>(std::ceil(std::min((mode == kLinear ? 1 : 2) * stretch, 1e9)));
        CheckedShape({n, length}, 8);
        Array matrix = Zeros(Shape{n, length}, Dtype::kFloat64, HostDevice());
        for (int64_t i = 0; i < n; ++i) {
            double first = std::floor(places[i]);
            double total = 0;
            double* row = matrix.data<double>() + i * length;
            for (int64_t k = 1 - reach; k <= reach; ++k) {
                double neighbor = first + static_cast<double>(k);
                double weight = Weight((neighbor - places[i]) / stretch);
                if (exclude_outside && (neighbor < 0 || neighbor >= static_cast<double>(length))) weight = 0;
                row[inside(neighbor)] += weight;
                total += weight;
            }
            if (exclude_outside || stretch > 1) {
                for (int64_t j = 0; j < length; ++j) row[j] /= total;
            }
        }
        Array weights = Like(x, matrix);
        Array moved = Moveaxis(x, Axes{axis}, Axes{LastAxis(x)});
        return Moveaxis(Matmul(moved, Transpose(weights)), Axes{LastAxis(x)}, Axes{axis});
    }
};

// The sizes that scales of some axes give.
Ints ScaledSizes(const Array& x, const Axes& axes, const std::vector<double>& scales) {
    if (scales.size() != axes.size()) throw ModelError{scales.size(), " scales for ", axes.size(), " axes"};
    Ints sizes;
    for (size_t i = 0; i < scales.size(); ++i) {
        double size = std::floor(static_cast<double>(x.shape()[axes[i]]) * scales[i]);
        if (!(scales[i] > 0) || size > 1e15) throw ModelError{"a scale is ", scales[i]};
        sizes.push_back(static_cast<int64_t>(size));
    }
    return sizes;
}

enum Coordinates { kHalfPixel, kAsymmetric, kAlignCorners, kPytorchHalfPixel, kTfHalfPixel, kCrop, kSymmetric };

// Where element i of the output, which has `size` of them, lies between those of the input. `begin`, `end`: of kCrop.
double PlaceOf(int mode, int64_t i, int64_t size, double scale, int64_t length, double begin, double end) {
    auto x = static_cast<double>(i);
    auto last = static_cast<double>(length - 1);
    double exact = scale * static_cast<double>(length);
    double half = (x + 0.5) / scale - 0.5;
    if (mode == kAsymmetric) return x / scale;
    if (mode == kAlignCorners) return exact == 1 ? 0 : x * last / (exact - 1);
    if (mode == kTfHalfPixel) return (x + 0.5) / scale;
    if (mode == kCrop && size == 1) return 0.5 * (begin + end) * last;
    if (mode == kCrop) return begin * last + x * (end - begin) * last / static_cast<double>(size - 1);
    if (mode == kPytorchHalfPixel && size == 1) return -0.5;
    if (mode == kSymmetric) return half + static_cast<double>(length) / 2 * (1 - static_cast<double>(size) / exact);
    return half;
}

// The scales that sizes give, and the sizes, which a policy (stretch, not_larger, not_smaller) may change.
std::vector<double> ScalesOf(const Array& x, const Axes& axes, int policy, Ints* sizes) {
    if (sizes->size() != axes.size()) throw ModelError{sizes->size(), " sizes for ", axes.size(), " axes"};
    std::vector<double> lengths;
    std::vector<double> scales;
    for (size_t i = 0; i < axes.size(); ++i) {
        if ((*sizes)[i] < 1) throw ModelError{"a size is ", (*sizes)[i]};
        lengths.push_back(static_cast<double>(x.shape()[axes[i]]));
        scales.push_back(static_cast<double>((*sizes)[i]) / lengths[i]);
    }
    if (policy == 0 || scales.empty()) return scales;
    auto [least, most] = std::minmax_element(scales.begin(), scales.end());
    double scale = policy == 1 ? *least : *most;
    for (size_t i = 0; i < axes.size(); ++i) (*sizes)[i] = static_cast<int64_t>(std::floor(lengths[i] * scale + 0.5));
    return std::vector<double>(axes.size(), scale);
}

// How a node resizes. Upsample, and Resize below opset 11, know nothing but the mode.
struct Resizing {
    explicit Resizing(const Node& node) {
        if (node.op_type() == "Upsample") {
            resample.mode = node.Choice("mode") == 0 ? kNearest : kLinear;
            return;
        }
        resample.mode = node.Choice("mode");
        if (node.opset() < 11) return;
        resample.rounding = node.Choice("nearest_mode");
        resample.antialias = node.Flag("antialias");
        resample.exclude_outside = node.Flag("exclude_outside");
        resample.a = node.Float("cubic_coeff_a");
        coordinates = node.Choice("coordinate_transformation_mode");
        policy = node.Choice("keep_aspect_ratio_policy");
        fill = node.Float("extrapolation_value");
    }

    // `box`: the beginnings of the region along the axes, then its ends, for kCrop.
    // `given`: sizes; else they follow from the scales.
    Array operator()(const Array& input, const Axes& axes, const std::vector<double>& scales,
                     const std::vector<double>& box = {}, const std::optional<Ints>& given = std::nullopt) const {
        Ints sizes = given ? *given : ScaledSizes(input, axes, scales);
        Array x = resample.mode == kNearest || IsFloat(input.dtype()) ? input : Cast(input, Dtype::kFloat64);
        Ints dims = ToVector(x.shape());
        for (size_t i = 0; i < axes.size(); ++i) dims[axes[i]] = sizes[i];
        CheckedShape(dims, 8);
        bool is_crop = coordinates == kCrop;
        if (is_crop && box.size() != 2 * axes.size()) throw ModelError{"the region is missing or wrong"};
        Array outside;
        for (size_t i = 0; i < axes.size(); ++i) {
            int64_t length = x.shape()[axes[i]];
            if (!is_crop && sizes[i] == length && scales[i] == 1) continue;
            std::vector<double> places;
            for (int64_t j = 0; j < sizes[i]; ++j) {
                places.push_back(PlaceOf(coordinates, j, sizes[i], scales[i], length, is_crop ? box[i] : 0,
                                         is_crop ? box[i + axes.size()] : 0));
            }
            if (is_crop) {
                Array at = FromHost(Shape{sizes[i]}, Dtype::kFloat64, places.data(), x.device());
                Array beyond = LogicalOr(Less(at, Scalar{0}), Greater(at, Scalar{length - 1}));
                beyond = AsAxis(beyond, x.ndim() - 1 - axes[i]);
                outside = outside ? LogicalOr(outside, beyond) : beyond;
            }
            x = resample(x, axes[i], places, scales[i]);
        }
        if (outside) x = Where(outside, Scalar{fill}, x);
        return Cast(x, input.dtype());
    }

    Resampling resample;
    int coordinates{kAsymmetric};
    int policy{0};
    double fill{0};
};

// Opset 1 has the scales of images as attributes, and opset 7 those of all axes.
Array Upsample(const Array& x, const Array& scales, const Resizing& resize, const std::vector<float>& given,
               const std::optional<double>& height, const std::optional<double>& width) {
    std::vector<double> values{given.begin(), given.end()};
    if (height && width) values = {1, 1, *height, *width};
    if (scales) values = ReadDoubles(scales);
    return resize(x, AxesBetween(0, x.ndim()), values);
}

Array Resize(const Array& x, const Array& roi, const Array& scales, const std::optional<Ints>& given_sizes,
             const std::optional<Axes>& given_axes, Opset opset, const Resizing& resize) {
    Axes axes = given_axes.value_or(AxesBetween(0, x.ndim()));
    if (opset < 11) return resize(x, axes, ReadDoubles(roi));  // its second input are the scales
    std::vector<double> box = roi && resize.coordinates == kCrop ? ReadDoubles(roi) : std::vector<double>{};
    if (scales && scales.GetTotalSize() > 0) return resize(x, axes, ReadDoubles(scales), box);
    Ints sizes = given_sizes.value_or(Ints{});
    std::vector<double> factors = ScalesOf(x, axes, resize.policy, &sizes);
    return resize(x, axes, factors, box, sizes);
}

// Coordinates mirrored at both ends, until they lie between.
double Reflect(double x, double low, double high) {
    double span = high - low;
    if (span <= 0) return 0;
    // From the nearest multiple of twice the span
    double phase = x - low - std::floor((x - low) / (2 * span)) * 2 * span;
    return low + span - std::abs(phase - span);
}

// The samples of one axis that a point of a grid meets.
struct Taps {
    int count{0};
    int64_t places[4];
    double weights[4];
};

enum class GridMode { kBilinear, kNearest, kBicubic, kLinear, kCubic };
enum GridPadding { kZeros, kBorder, kReflection };

Taps TapsOf(double x, int64_t length, Mode mode, GridPadding padding, bool align_corners) {
    auto n = static_cast<double>(length);
    double low = align_corners ? 0 : -0.5;
    double high = align_corners ? n - 1 : n - 0.5;
    x = align_corners ? (x + 1) * (n - 1) / 2 : ((x + 1) * n - 1) / 2;
    if (!(std::abs(x) < 1e15)) x = -1e15;
    if (mode == kNearest) x = std::nearbyint(x);
    if (mode != kCubic) {
        if (padding == kReflection) x = Reflect(x, low, high);
        if (padding != kZeros) x = std::min(std::max(x, 0.0), n - 1);
    }
    Taps taps;
    double first = std::floor(x) - (mode == kCubic ? 1 : 0);
    taps.count = mode == kNearest ? 1 : mode == kLinear ? 2 : 4;
    Resampling kernel;
    kernel.mode = mode;
    for (int i = 0; i < taps.count; ++i) {
        double place = first + i;
        taps.weights[i] = mode == kNearest ? 1 : kernel.Weight(x - place);
        if (padding == kReflection) place = Reflect(place, low, high);
        if (padding != kZeros) place = std::min(std::max(place, 0.0), n - 1);
        bool is_inside = place >= 0 && place < n;
        taps.places[i] = is_inside ? static_cast<int64_t>(place) : 0;
        if (!is_inside) taps.weights[i] = 0;
    }
    return taps;
}

// x (N, C, spatial...), grid (N, out..., spatial axes)
Array GridSample(const Array& x, const Array& grid, GridMode given, GridPadding padding, bool align_corners) {
    constexpr Mode kModes[] = {kLinear, kNearest, kCubic, kLinear, kCubic};
    Mode mode = kModes[static_cast<int>(given)];
    int axes = x.ndim() - 2;
    if (axes < 1 || axes > 3 || grid.ndim() != x.ndim() || grid.shape()[axes + 1] != axes ||
        grid.shape()[0] != x.shape()[0]) {
        throw ModelError{"the shapes are ", x.shape(), " and ", grid.shape()};
    }
    int64_t batch = x.shape()[0];
    int64_t channels = x.shape()[1];
    int64_t size = SizeOf(x.shape(), 2, x.ndim());
    int64_t points = SizeOf(grid.shape(), 1, axes + 1);
    Shape shape{batch, channels};
    for (int i = 0; i < axes; ++i) shape.push_back(grid.shape()[i + 1]);
    if (size == 0) throw ModelError{"the image has the shape ", x.shape()};
    Array from = InHostMemory(x);
    Array at = InHostMemory(grid);
    Array out = EmptyInHostMemory(shape);
    for (int64_t i = 0; i < batch * points; ++i) {
        int64_t offsets[64];
        double weights[64];
        int count = 1;
        offsets[0] = 0;
        weights[0] = 1;
        for (int d = 0; d < axes; ++d) {
            // The last coordinate is that of the first axis.
            int64_t length = x.shape()[d + 2];
            Taps taps = TapsOf(at.data<double>()[i * axes + axes - 1 - d], length, mode, padding, align_corners);
            for (int k = count * taps.count - 1; k >= 0; --k) {
                offsets[k] = offsets[k / taps.count] * length + taps.places[k % taps.count];
                weights[k] = weights[k / taps.count] * taps.weights[k % taps.count];
            }
            count *= taps.count;
        }
        for (int64_t c = 0; c < channels; ++c) {
            const double* image = from.data<double>() + (i / points * channels + c) * size;
            double sum = 0;
            for (int k = 0; k < count; ++k) sum += weights[k] * image[offsets[k]];
            out.data<double>()[(i / points * channels + c) * points + i % points] = sum;
        }
    }
    return Like(x, out);
}

// theta: (N, axes, axes + 1)
Array AffineGrid(const Array& theta, const Ints& size, bool align_corners) {
    int axes = static_cast<int>(std::min<size_t>(size.size(), 99)) - 2;
    if (axes < 2 || axes > 3 || theta.shape() != Shape{size[0], axes, axes + 1}) {
        throw ModelError{"the shape of theta is ", theta.shape(), ", and the size has ", size.size(), " values"};
    }
    Ints dims = size;
    dims.erase(dims.begin() + 1);
    dims.push_back(axes);
    Shape shape = CheckedShape(dims, 8);
    Arrays coordinates;  // x first: the last axis
    for (int d = axes; d > 0; --d) {
        int64_t n = shape[d];
        Array steps = Steps(n, axes - d, theta.device(), Dtype::kFloat64);
        steps = align_corners ? steps * Scalar{2.0 / static_cast<double>(std::max<int64_t>(n - 1, 1))} - Scalar{1.0}
                              : (steps * Scalar{2.0} + Scalar{1.0}) / Scalar{static_cast<double>(n)} - Scalar{1.0};
        coordinates.push_back(BroadcastTo(steps, Shape{shape.begin() + 1, shape.begin() + 1 + axes}));
    }
    coordinates.push_back(Ones(coordinates[0].shape(), Dtype::kFloat64, theta.device()));
    Array points = Reshape(Stack(coordinates, axes), Shape{-1, axes + 1});
    Array y = Matmul(points, Transpose(Cast(theta, Dtype::kFloat64), Axes{0, 2, 1}));
    return Cast(Reshape(y, shape), theta.dtype());
}

}  // namespace

const OperatorTable kImagesOperators = {
        {"AffineGrid", Call<AffineGrid>, "size align_corners"},
        {"GridSample", Call<GridSample>, "mode padding_mode align_corners"},
        {"Resize", Call<Resize>, "sizes axes"},
        {"Upsample", Call<Upsample>, "scales height_scale width_scale"},
};

}  // namespace chainerx::onnx
