#include "chainerx/core/shape.h"

namespace chainerx {

bool IsContiguous(const Shape& shape, const Strides& strides, int64_t item_size) noexcept {
    int64_t expected = item_size;
    for (int i = shape.ndim() - 1; i >= 0; --i) {
        if (shape[i] == 0) return true;
        if (shape[i] != 1 && strides[i] != expected) return false;
        expected *= shape[i];
    }
    return true;
}

int8_t NormalizeAxis(int64_t axis, int8_t ndim) {
    if (axis < -ndim || axis >= ndim) {
        throw DimensionError{"axis ", axis, " is out of bounds for an array with ", int{ndim}, " dimensions"};
    }
    return static_cast<int8_t>(axis < 0 ? axis + ndim : axis);
}

Axes NormalizeAxes(const OptionalAxes& axes, int8_t ndim) {
    Axes out;
    if (!axes.has_value()) {
        for (int8_t i = 0; i < ndim; ++i) out.push_back(i);
        return out;
    }
    for (int8_t axis : *axes) out.push_back(NormalizeAxis(axis, ndim));
    std::sort(out.begin(), out.end());
    if (std::adjacent_find(out.begin(), out.end()) != out.end()) throw DimensionError{"duplicate axis in ", *axes};
    return out;
}

Shape ReduceShape(const Shape& shape, const Axes& axes, bool keepdims) {
    Shape out;
    int8_t k = 0;
    for (int8_t i = 0; i < shape.ndim(); ++i) {
        if (k < axes.ndim() && axes[k] == i) {
            ++k;
            if (keepdims) out.push_back(1);
        } else {
            out.push_back(shape[i]);
        }
    }
    return out;
}

Shape BroadcastShapes(const Shape& a, const Shape& b) {
    const Shape& longer = a.ndim() >= b.ndim() ? a : b;
    const Shape& shorter = a.ndim() >= b.ndim() ? b : a;
    Shape out = longer;
    int offset = longer.ndim() - shorter.ndim();
    for (int i = 0; i < shorter.ndim(); ++i) {
        int64_t d = shorter[i];
        int64_t& o = out[i + offset];
        if (o == d || d == 1) continue;
        if (o != 1) throw DimensionError{"operands could not be broadcast together with shapes ", a, " and ", b};
        o = d;
    }
    return out;
}

Strides BroadcastStrides(const Shape& from, const Strides& strides, const Shape& to) {
    int offset = to.ndim() - from.ndim();
    if (offset < 0) throw DimensionError{"cannot broadcast an array of shape ", from, " to shape ", to};
    Strides out(to.ndim(), 0);
    for (int i = 0; i < from.ndim(); ++i) {
        if (from[i] == to[i + offset]) {
            out[i + offset] = strides[i];
        } else if (from[i] != 1) {
            throw DimensionError{"cannot broadcast an array of shape ", from, " to shape ", to};
        }
    }
    return out;
}

void CheckShape(const Shape& shape, int64_t item_size) {
    int64_t bytes = item_size;
    bool overflow = false;
    for (int64_t d : shape) {
        if (CHAINERX_UNLIKELY(d < 0)) {
            throw DimensionError{"negative dimensions are not allowed, shape was ", shape};
        }
        overflow = overflow || __builtin_mul_overflow(bytes, std::max<int64_t>(d, 1), &bytes);
    }
    if (CHAINERX_UNLIKELY(overflow)) throw DimensionError{"an array of shape ", shape, " is too big"};
}

}  // namespace chainerx
