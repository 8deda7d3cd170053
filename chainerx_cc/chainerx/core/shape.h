#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <ostream>
#include <string>

#include "chainerx/core/error.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// The maximum number of dimensions of an array.
constexpr int8_t kMaxNdim = 16;

// Per-dimension integers, stored inline. `Tag` keeps shapes, strides and axes apart.
template <class T, class Tag>
class Dims {
public:
    using value_type = T;
    using iterator = T*;
    using const_iterator = const T*;

    Dims() noexcept {}
    Dims(std::initializer_list<T> init) : Dims{init.begin(), init.end()} {}
    template <class It, class = typename std::iterator_traits<It>::iterator_category>
    Dims(It first, It last) {
        for (; first != last; ++first) push_back(static_cast<T>(*first));
    }
    Dims(int64_t n, T value) { resize(n, value); }
    Dims(const Dims& o) noexcept : size_{o.size_} { std::copy_n(o.data_, size_, data_); }
    Dims& operator=(const Dims& o) noexcept {
        size_ = o.size_;
        std::copy_n(o.data_, size_, data_);
        return *this;
    }

    int8_t ndim() const noexcept { return static_cast<int8_t>(size_); }
    size_t size() const noexcept { return static_cast<size_t>(size_); }
    bool empty() const noexcept { return size_ == 0; }
    T* begin() noexcept { return data_; }
    T* end() noexcept { return data_ + size_; }
    const T* begin() const noexcept { return data_; }
    const T* end() const noexcept { return data_ + size_; }
    const T* data() const noexcept { return data_; }
    T& operator[](int64_t i) noexcept { return data_[i]; }
    const T& operator[](int64_t i) const noexcept { return data_[i]; }
    T& back() noexcept { return data_[size_ - 1]; }
    const T& back() const noexcept { return data_[size_ - 1]; }

    void push_back(T v) {
        if (CHAINERX_UNLIKELY(size_ == kMaxNdim))
            throw DimensionError{"an array has at most ", int{kMaxNdim}, " dimensions"};
        data_[size_++] = v;
    }
    void pop_back() noexcept { --size_; }
    void resize(int64_t n, T value = T{}) {
        if (CHAINERX_UNLIKELY(n > kMaxNdim))
            throw DimensionError{"an array has at most ", int{kMaxNdim}, " dimensions"};
        for (int64_t i = size_; i < n; ++i) data_[i] = value;
        size_ = static_cast<int32_t>(n);
    }
    void insert(int64_t pos, T v) {
        push_back(v);
        std::rotate(data_ + pos, data_ + size_ - 1, data_ + size_);
    }
    void erase(int64_t pos) noexcept {
        std::copy(data_ + pos + 1, data_ + size_, data_ + pos);
        --size_;
    }

    friend bool operator==(const Dims& a, const Dims& b) noexcept {
        return a.size_ == b.size_ && std::equal(a.begin(), a.end(), b.begin());
    }
    friend bool operator!=(const Dims& a, const Dims& b) noexcept { return !(a == b); }
    friend std::ostream& operator<<(std::ostream& os, const Dims& d) {
        os << '(';
        for (int32_t i = 0; i < d.size_; ++i) os << (i == 0 ? "" : ", ") << static_cast<int64_t>(d.data_[i]);
        return os << (d.size_ == 1 ? ",)" : ")");
    }

private:
    int32_t size_{0};
    T data_[kMaxNdim];
};

class Shape : public Dims<int64_t, Shape> {
public:
    using Dims::Dims;
    Shape() noexcept = default;

    int64_t GetTotalSize() const noexcept {
        int64_t n = 1;
        for (int64_t d : *this) n *= d;
        return n;
    }
};

// Distances in bytes between neighbouring elements of each dimension.
class Strides : public Dims<int64_t, Strides> {
public:
    using Dims::Dims;
    Strides() noexcept = default;
    // C-contiguous strides.
    Strides(const Shape& shape, int64_t item_size) {
        resize(shape.ndim());
        int64_t stride = item_size;
        for (int i = shape.ndim() - 1; i >= 0; --i) {
            (*this)[i] = stride;
            stride *= std::max<int64_t>(shape[i], 1);
        }
    }
};

class Axes : public Dims<int8_t, Axes> {
public:
    using Dims::Dims;
    Axes() noexcept = default;
};

// No value means all axes.
using OptionalAxes = std::optional<Axes>;

bool IsContiguous(const Shape& shape, const Strides& strides, int64_t item_size) noexcept;

// Returns an axis in [0, ndim), counting from the end when it is negative.
int8_t NormalizeAxis(int64_t axis, int8_t ndim);

// Sorted, non-negative axes. Missing axes mean all of them. Raises on duplicates and values out of range.
Axes NormalizeAxes(const OptionalAxes& axes, int8_t ndim);

// The shape after a reduction over the (sorted) axes.
Shape ReduceShape(const Shape& shape, const Axes& axes, bool keepdims);

// NumPy's broadcasting of two shapes.
Shape BroadcastShapes(const Shape& a, const Shape& b);

// Strides that make an array of shape `from` look like one of shape `to`.
Strides BroadcastStrides(const Shape& from, const Strides& strides, const Shape& to);

// Rejects negative dimensions, and sizes or strides that would overflow: as in NumPy, dimensions of length zero count
// as one, so that arrays without elements have sound strides, too.
void CheckShape(const Shape& shape, int64_t item_size);

}  // namespace chainerx
