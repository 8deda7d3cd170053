#pragma once

#include <limits>
#include <memory>
#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/core/backend.h"
#include "chainerx/ops/window.h"

namespace chainerx {

// What follows a convolution in the same pass over its output.
struct ConvEpilogue {
    Array bias;            // (O), or no array
    Array addend;          // added after the bias, of the shape of the output; or no array
    bool use_relu{false};  // of the sum
    double most{std::numeric_limits<double>::infinity()};  // that relu lets through
};

// The weights of a convolution in the layout that a backend reads fastest.
class PackedFilters {
public:
    virtual ~PackedFilters() = default;
    // y from x: all arrays are contiguous, of the dtype of the weights and on their device, and y shares no memory
    // with the others.
    virtual void Run(const WindowGeometry& g, const Array& x, const ConvEpilogue& epilogue, const Array& y) const = 0;
};

// Packs contiguous weights (O, C / groups, k_1, ..., k_n), of which it keeps no reference. Gives null if the backend
// has nothing better for them than the kernel "conv". Backends need not have this kernel.
using PackFiltersKernel = KernelSlot<std::unique_ptr<PackedFilters>(const Array& w, int64_t groups)>;
extern const PackFiltersKernel kPackFiltersKernel;

struct ConvOptions {
    PerAxis stride{1};
    PerAxis pad{0};
    std::optional<PerAxis> end_pad;  // at the end of each dimension, where it differs from `pad`
    PerAxis dilate{1};
    int64_t groups{1};
    bool use_relu{false};
    double most{std::numeric_limits<double>::infinity()};  // that relu lets through
};

// A convolution for inference, whose weights are prepared once for many calls. It works on any device, ignores graphs,
// and may run on several threads at a time.
class PackedConvolution {
public:
    // w (O, C / groups, k_1, ..., k_n), b (O) of its dtype and on its device. Later changes of both have no effect.
    PackedConvolution(const Array& w, const std::optional<Array>& b, const ConvOptions& options = {});

    // The same without relu; both share the weights.
    PackedConvolution WithoutRelu() const;

    // The shape of the output for an input (N, C, l_1, ..., l_n).
    Shape OutShape(const Shape& x) const { return MakeGeometry(x).OutShape(w_shape_[0]); }

    // Writes min(relu(conv(x, w) + b + addend), most), without what is not wanted, to the contiguous array `out`, which
    // shares no memory with the others. All are of the dtype and on the device of the weights.
    void Run(const Array& x, const Array& out, const std::optional<Array>& addend = std::nullopt) const;

    // The same into a new array.
    Array operator()(const Array& x, const std::optional<Array>& addend = std::nullopt) const;

private:
    WindowGeometry MakeGeometry(const Shape& x) const;

    Shape w_shape_;
    Dtype dtype_;
    Device* device_;
    ConvOptions options_;
    Array b_;
    std::shared_ptr<const PackedFilters> filters_;
    Array w_;  // if not packed
};

}  // namespace chainerx
