// Convolution and its gradient with respect to the data.

#include "chainerx/backends/native/kernels/allocator.h"
#include "chainerx/backends/native/kernels/conv.h"
#include "chainerx/backends/native/kernels/conv_few.h"
#include "chainerx/backends/native/kernels/conv_gemm.h"
#include "chainerx/backends/native/kernels/conv_square.h"
#include "chainerx/backends/native/kernels/conv_winograd.h"
#include "chainerx/backends/native/kernels/thread_pool.h"

namespace chainerx::native::CHAINERX_ISA {
namespace {

// Treats a convolution of single elements, such as one without spatial dimensions, as one along a row.
ConvShape Simplify(const ConvShape& shape) {
    bool is_pointwise = true;
    for (int d = 0; d < shape.ndim; ++d) {
        is_pointwise = is_pointwise && shape.kernel[d] == 1 && shape.stride[d] == 1 && shape.pad[d] == 0 &&
                       shape.in[d] == shape.out[d];
    }
    ConvShape s = shape;
    if (is_pointwise) {
        s.ndim = 1;
        s.in[0] = s.out[0] = SpatialSize(shape.in, shape.ndim);
        s.kernel[0] = s.stride[0] = s.dilation[0] = 1;
        s.pad[0] = 0;
    }
    return s;
}

template <class T>
void Compute(const Problem<T>& p) {
    if (Winograd<T>::Fits(p)) {
        Winograd<T>{p}.Multiply();
    } else {
        Multiply(p);
    }
}

// The problem of group g; p is that of the first one, whose weights are `w_group` elements.
template <class T>
Problem<T> GroupOf(const Problem<T>& p, int64_t g, int64_t w_group) {
    const Filters<T>& f = p.filters;
    int64_t m = g * f.rows;
    Problem<T> group = p;
    group.x = p.x + g * f.channels * SpatialSize(p.window.image, p.window.ndim);
    if (p.packed != nullptr) {
        group.packed = p.packed + g * PackedLayout<T>{f.rows, f.channels, f.taps}.Size();
    } else {
        group.filters.w = f.w + g * w_group;
    }
    group.bias = p.bias != nullptr ? p.bias + m : nullptr;
    group.addend = p.addend != nullptr ? p.addend + m * p.y_channel : nullptr;
    group.y = p.y + m * p.y_channel;
    return group;
}

template <class T>
void ComputeGroups(const Problem<T>& p, int64_t groups, int64_t w_group) {
    if constexpr (SquareWindows<T>::kIsCompiled) {
        if (SquareWindows<T>::Fits(p, groups)) {
            SquareWindows<T>{p, groups, w_group}.Multiply();
            return;
        }
    }
    if (FewChannels<T>::Fits(p, groups)) {
        FewChannels<T>{p, groups, w_group}.Multiply();
        return;
    }
    ParallelFor(groups, 1, [&](int64_t begin, int64_t end) {
        for (int64_t g = begin; g < end; ++g) {
            Compute(GroupOf(p, g, w_group));
        }
    });
}

template <class T>
void Fill(T* data, int64_t channels, int64_t size, const T* bias) {
    for (int64_t c = 0; c < channels; ++c) {
        T value = bias != nullptr ? bias[c] : T{0};
        for (int64_t i = 0; i < size; ++i) {
            data[c * size + i] = value;
        }
    }
}

// The positions of x that are equal modulo the stride: `columns` of them, from `start` on
struct Phase {
    int64_t start[kMaxSpatialDims];
    int64_t columns[kMaxSpatialDims];
};

// x at the positions of a phase = `from`, which is contiguous
template <class T>
void SpreadPhase(const ConvShape& s, const Phase& phase, const T* from, T* x) {
    int last = s.ndim - 1;
    int64_t in_size = SpatialSize(s.in, s.ndim);
    int64_t rows = SpatialSize(phase.columns, last);
    int64_t width = phase.columns[last];
    int64_t step = s.stride[last];
    ParallelFor(s.batch * s.in_channels, 1 + 32768 / (rows * width), [&](int64_t begin, int64_t end) {
        const T* in = from + begin * rows * width;
        for (int64_t plane = begin; plane < end; ++plane) {
            for (int64_t row = 0; row < rows; ++row, in += width) {
                int64_t index = phase.start[last];
                int64_t scale = s.in[last];
                int64_t rest = row;
                for (int d = last - 1; d >= 0; --d) {
                    index += (rest % phase.columns[d] * s.stride[d] + phase.start[d]) * scale;
                    rest /= phase.columns[d];
                    scale *= s.in[d];
                }
                T* out = x + plane * in_size + index;
                for (int64_t i = 0; i < width; ++i) {
                    out[i * step] = in[i];
                }
            }
        }
    });
}

// The forward pass with weights, or with packed ones.
template <class T>
void Forward(const ConvShape& shape, const T* x, const T* w, const T* packed, const T* bias, const T* addend, bool relu,
             T most, T* y) {
    ConvShape s = Simplify(shape);
    int64_t taps = SpatialSize(s.kernel, s.ndim);
    int64_t in_size = SpatialSize(s.in, s.ndim);
    int64_t out_size = SpatialSize(s.out, s.ndim);
    int64_t in_group = s.in_channels / s.groups;
    int64_t out_group = s.out_channels / s.groups;
    Scratch<int64_t> offsets{taps * s.ndim};
    Scratch<int64_t> w_tap{taps};
    for (int64_t t = 0; t < taps; ++t) {
        w_tap.data()[t] = t;
        int64_t rest = t;
        for (int d = s.ndim - 1; d >= 0; --d) {
            offsets.data()[t * s.ndim + d] = rest % s.kernel[d] * s.dilation[d] - s.pad[d];
            rest /= s.kernel[d];
        }
    }
    Problem<T> p{};
    p.window.ndim = s.ndim;
    p.window.taps = taps;
    p.window.offsets = offsets.data();
    for (int d = 0; d < s.ndim; ++d) {
        p.window.image[d] = s.in[d];
        p.window.columns[d] = s.out[d];
        p.window.stride[d] = s.stride[d];
    }
    p.batch = s.batch;
    p.filters = {out_group, in_group, taps, w, in_group * taps, taps, w_tap.data()};
    p.x_image = s.in_channels * in_size;
    p.relu = relu;
    p.most = most;
    p.y_image = s.out_channels * out_size;
    p.y_channel = out_size;
    p.packed = packed;
    p.x = x;
    p.bias = bias;
    p.addend = addend;
    p.y = y;
    ComputeGroups(p, s.groups, out_group * in_group * taps);
}

}  // namespace

template <class T>
void ConvForward(const ConvShape& s, const T* x, const T* w, const T* bias, T* y) {
    int64_t out_size = SpatialSize(s.out, s.ndim);
    if (s.batch * s.out_channels * out_size == 0) {
        return;
    }
    if (s.in_channels * SpatialSize(s.kernel, s.ndim) * SpatialSize(s.in, s.ndim) == 0) {
        for (int64_t n = 0; n < s.batch; ++n) {
            Fill(y + n * s.out_channels * out_size, s.out_channels, out_size, bias);
        }
        return;
    }
    Forward<T>(s, x, w, nullptr, bias, nullptr, false, T{0}, y);
}

template <class T>
void GetPackedSize(const ConvShape& s, int64_t* size) {
    PackedLayout<T> layout{s.out_channels / s.groups, s.in_channels / s.groups, SpatialSize(s.kernel, s.ndim)};
    *size = s.groups * layout.Size();
}

template <class T>
void PackConvWeights(const ConvShape& s, const T* w, T* packed) {
    int64_t taps = SpatialSize(s.kernel, s.ndim);
    int64_t in_group = s.in_channels / s.groups;
    int64_t out_group = s.out_channels / s.groups;
    Scratch<int64_t> tap{taps};
    for (int64_t t = 0; t < taps; ++t) {
        tap.data()[t] = t;
    }
    int64_t size = PackedLayout<T>{out_group, in_group, taps}.Size();
    for (int64_t g = 0; g < s.groups; ++g) {
        PackFilters<T>(
                {out_group, in_group, taps, w + g * out_group * in_group * taps, in_group * taps, taps, tap.data()},
                packed + g * size);
    }
}

template <class T>
void ConvForwardPacked(const ConvShape& s, const T* x, const T* packed, const T* bias, const T* addend, bool relu,
                       T most, T* y) {
    Forward<T>(s, x, nullptr, packed, bias, addend, relu, most, y);
}

template <class T>
void ConvBackwardData(const ConvShape& shape, const T* gy, const T* w, const T* bias, T* gx) {
    // Positions of x that are equal modulo the stride see the same taps, with gy read at stride one: a
    // convolution of gy for each such phase.
    ConvShape s = Simplify(shape);
    int64_t taps = SpatialSize(s.kernel, s.ndim);
    int64_t in_size = SpatialSize(s.in, s.ndim);
    int64_t out_size = SpatialSize(s.out, s.ndim);
    int64_t in_group = s.in_channels / s.groups;
    int64_t out_group = s.out_channels / s.groups;
    int64_t phases[kMaxSpatialDims];  // those that some position has
    bool unit = true;
    for (int d = 0; d < s.ndim; ++d) {
        phases[d] = s.stride[d] < s.in[d] ? s.stride[d] : s.in[d];
        unit = unit && s.stride[d] == 1;
    }
    bool dense = unit && out_group * taps * out_size > 0;
    if (!dense) {
        for (int64_t n = 0; n < s.batch; ++n) {
            Fill(gx + n * s.in_channels * in_size, s.in_channels, in_size, bias);
        }
        if (out_group * taps * out_size == 0) {
            return;
        }
    }
    Scratch<int64_t> offsets{taps * s.ndim};
    Scratch<int64_t> w_tap{taps};
    int64_t most = s.batch * s.in_channels;  // elements of a phase
    for (int d = 0; d < s.ndim; ++d) {
        most *= (s.in[d] + s.stride[d] - 1) / s.stride[d];
    }
    Scratch<T> sums{unit ? 0 : most};  // of a phase
    int64_t phase_count = SpatialSize(phases, s.ndim);
    for (int64_t i = 0; i < phase_count; ++i) {
        Problem<T> p{};
        Phase phase{};
        int64_t rest = i;
        for (int d = s.ndim - 1; d >= 0; --d) {
            phase.start[d] = rest % phases[d];
            phase.columns[d] = (s.in[d] - phase.start[d] + s.stride[d] - 1) / s.stride[d];
            rest /= phases[d];
            p.window.image[d] = s.out[d];
            p.window.columns[d] = phase.columns[d];
            p.window.stride[d] = 1;
        }
        for (int64_t t = taps - 1; t >= 0; --t) {  // the image is then read forward
            int64_t* offset = offsets.data() + p.window.taps * s.ndim;
            bool hit = true;
            rest = t;
            for (int d = s.ndim - 1; d >= 0; --d) {
                int64_t numerator = phase.start[d] + s.pad[d] - rest % s.kernel[d] * s.dilation[d];
                rest /= s.kernel[d];
                hit = hit && numerator % s.stride[d] == 0;
                offset[d] = numerator / s.stride[d];
            }
            if (hit) {
                w_tap.data()[p.window.taps++] = t;
            }
        }
        p.window.ndim = s.ndim;
        p.window.offsets = offsets.data();
        int64_t columns = SpatialSize(p.window.columns, s.ndim);
        if (p.window.taps == 0 || columns == 0) {
            continue;
        }
        p.batch = s.batch;
        p.filters = {in_group, out_group, p.window.taps, w, taps, in_group * taps, w_tap.data()};
        p.x_image = s.out_channels * out_size;
        p.y = unit ? gx : sums.data();
        p.y_image = s.in_channels * columns;
        p.y_channel = columns;
        p.x = gy;
        p.bias = bias;
        ComputeGroups(p, s.groups, out_group * in_group * taps);
        if (!unit) {
            SpreadPhase(s, phase, sums.data(), gx);
        }
    }
}

#define CHAINERX_INSTANTIATE(T)                                                                                \
    template void ConvForward<T>(const ConvShape&, const T*, const T*, const T*, T*);                          \
    template void GetPackedSize<T>(const ConvShape&, int64_t*);                                                \
    template void PackConvWeights<T>(const ConvShape&, const T*, T*);                                          \
    template void ConvForwardPacked<T>(const ConvShape&, const T*, const T*, const T*, const T*, bool, T, T*); \
    template void ConvBackwardData<T>(const ConvShape&, const T*, const T*, const T*, T*);
CHAINERX_INSTANTIATE(float)
CHAINERX_INSTANTIATE(double)
#undef CHAINERX_INSTANTIATE

}  // namespace chainerx::native::CHAINERX_ISA
