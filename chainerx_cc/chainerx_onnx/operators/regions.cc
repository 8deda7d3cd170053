// Regions of images.

#include <algorithm>
#include <cmath>

#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {
namespace {

struct Box {
    Box(const double* p, bool is_centered) {
        for (int i = 0; i < 2; ++i) {
            double a = is_centered ? p[i] - p[i + 2] / 2 : p[i];
            double b = is_centered ? p[i] + p[i + 2] / 2 : p[i + 2];
            low[i] = std::min(a, b);
            high[i] = std::max(a, b);
        }
    }
    double area() const { return (high[0] - low[0]) * (high[1] - low[1]); }
    double Common(const Box& o) const {
        double product = 1;
        for (int i = 0; i < 2; ++i) product *= std::max(std::min(high[i], o.high[i]) - std::max(low[i], o.low[i]), 0.0);
        return product;
    }
    double low[2];
    double high[2];
};

Array NonMaxSuppression(const Array& coordinates, const Array& all_scores, const std::optional<int64_t>& most,
                        const Array& iou_threshold, const Array& score_threshold, bool is_centered) {
    if (coordinates.ndim() != 3 || coordinates.shape()[2] != 4 || all_scores.ndim() != 3 ||
        coordinates.shape()[0] != all_scores.shape()[0] || coordinates.shape()[1] != all_scores.shape()[2]) {
        throw ModelError{"the shapes are ", coordinates.shape(), " and ", all_scores.shape()};
    }
    Array boxes = InHostMemory(coordinates);
    Array scores = InHostMemory(all_scores);
    Array orders = AsContiguous(Argsort(Negative(scores), 2));  // NaN comes last
    int64_t limit = most.value_or(0);
    double overlap = iou_threshold ? static_cast<double>(AsScalar(iou_threshold)) : 0;
    std::optional<double> least;
    if (score_threshold) least = static_cast<double>(AsScalar(score_threshold));
    int64_t classes = scores.shape()[1];
    int64_t n = scores.shape()[2];
    Ints chosen;
    for (int64_t row = 0; row < scores.shape()[0] * classes; ++row) {
        const double* score = scores.data<double>() + row * n;
        const double* corners = boxes.data<double>() + row / classes * n * 4;
        const int64_t* order = orders.data<int64_t>() + row * n;
        std::vector<Box> kept;
        for (int64_t k = 0; k < n && static_cast<int64_t>(kept.size()) < limit; ++k) {
            int64_t i = order[k];
            if (least && !(score[i] > *least)) continue;
            Box box{corners + i * 4, is_centered};
            bool is_new = std::all_of(kept.begin(), kept.end(), [&](const Box& each) {
                double common = box.Common(each);
                return common <= overlap * (box.area() + each.area() - common);
            });
            if (!is_new) continue;
            kept.push_back(box);
            chosen.insert(chosen.end(), {row / classes, row % classes, i});
        }
    }
    Array out = IntsArray(chosen);
    return ToDevice(Reshape(out, Shape{out.GetTotalSize() / 3, 3}), coordinates.device());
}

// The two neighbors of a place along an axis; both weights are 0 outside.
struct Neighbors {
    Neighbors(double place, int64_t length) {
        auto last = static_cast<double>(length - 1);
        bool is_inside = place >= -1 && place <= static_cast<double>(length);
        double x = is_inside ? std::min(std::max(place, 0.0), last) : 0;
        places[0] = static_cast<int64_t>(x);
        places[1] = std::min(places[0] + 1, length - 1);
        double share = x - static_cast<double>(places[0]);
        weights[0] = is_inside ? 1 - share : 0;
        weights[1] = is_inside ? share : 0;
    }
    int64_t places[2];
    double weights[2];
};

enum class RegionCoordinates { kHalfPixel, kOutputHalfPixel };
enum class RegionMode { kMean, kMax };

Array RoiAlign(const Array& input, const Array& regions, const Ints& images, Opset opset, RegionCoordinates coordinates,
               RegionMode mode, int64_t output_height, int64_t output_width, int64_t sampling_ratio, double scale) {
    // Coordinates are shifted by half a pixel.
    bool is_half = opset >= 16 && coordinates == RegionCoordinates::kHalfPixel;
    Array x = InHostMemory(input);
    Array rois = InHostMemory(regions);
    if (x.ndim() != 4 || rois.ndim() != 2 || rois.shape()[1] != 4 || x.GetTotalSize() == 0 ||
        static_cast<int64_t>(images.size()) != rois.shape()[0]) {
        throw ModelError{"the shapes are ", x.shape(), " and ", rois.shape()};
    }
    int64_t outs[2] = {output_height, output_width};
    int64_t channels = x.shape()[1];
    int64_t sizes[2] = {x.shape()[2], x.shape()[3]};
    Array out = EmptyInHostMemory(CheckedShape({rois.shape()[0], channels, outs[0], outs[1]}, 8));
    double* y = out.data<double>();
    for (size_t r = 0; r < images.size(); ++r) {
        if (images[r] < 0 || images[r] >= x.shape()[0]) throw ModelError{"there is no image ", images[r]};
        const double* roi = rois.data<double>() + r * 4;
        std::vector<Neighbors> neighbors[2];
        int64_t counts[2];
        for (int axis = 0; axis < 2; ++axis) {
            double begin = roi[1 - axis] * scale - (is_half ? 0.5 : 0);
            double span = roi[3 - axis] * scale - (is_half ? 0.5 : 0) - begin;
            if (!is_half) span = std::max(span, 1.0);
            double each = std::ceil(span / static_cast<double>(outs[axis]));
            if (!(each < 1e6)) throw ModelError{"a region has the size ", span};
            counts[axis] = sampling_ratio > 0 ? sampling_ratio : std::max<int64_t>(static_cast<int64_t>(each), 1);
            int64_t total = CheckedShape({outs[axis], counts[axis]}, 64).GetTotalSize();
            for (int64_t i = 0; i < total; ++i) {
                double place = begin + (static_cast<double>(i) + 0.5) * span / static_cast<double>(total);
                neighbors[axis].emplace_back(place, sizes[axis]);
            }
        }
        for (int64_t c = 0; c < channels; ++c) {
            const double* image = x.data<double>() + (images[r] * channels + c) * sizes[0] * sizes[1];
            for (int64_t o = 0; o < outs[0] * outs[1]; ++o) {
                double sum = 0;
                double most = -INFINITY;
                for (int64_t k = 0; k < counts[0] * counts[1]; ++k) {
                    const Neighbors& rows = neighbors[0][o / outs[1] * counts[0] + k / counts[1]];
                    const Neighbors& columns = neighbors[1][o % outs[1] * counts[1] + k % counts[1]];
                    for (int i = 0; i < 4; ++i) {
                        double term = image[rows.places[i / 2] * sizes[1] + columns.places[i % 2]] *
                                      rows.weights[i / 2] * columns.weights[i % 2];
                        sum += term;
                        most = std::max(most, term);
                    }
                }
                *y++ = mode == RegionMode::kMean ? sum / static_cast<double>(counts[0] * counts[1]) : most;
            }
        }
    }
    return Like(input, out);
}

}  // namespace

const OperatorTable kRegionsOperators = {
        {"NonMaxSuppression", Call<NonMaxSuppression>, "max_output_boxes_per_class center_point_box"},
        {"RoiAlign", Call<RoiAlign>,
         "batch_indices coordinate_transformation_mode mode output_height output_width sampling_ratio spatial_scale"},
};

}  // namespace chainerx::onnx
