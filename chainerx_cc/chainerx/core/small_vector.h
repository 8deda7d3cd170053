#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace chainerx {

// Vector whose first N elements live inside the object.
template <class T, int N>
class SmallVector {
public:
    using value_type = T;
    using iterator = T*;
    using const_iterator = const T*;

    SmallVector() noexcept {}
    SmallVector(std::initializer_list<T> init) : SmallVector{init.begin(), init.end()} {}
    template <class It, class = typename std::iterator_traits<It>::iterator_category>
    SmallVector(It first, It last) {
        for (; first != last; ++first) push_back(*first);
    }
    SmallVector(const SmallVector& o) : SmallVector{o.begin(), o.end()} {}
    SmallVector(SmallVector&& o) noexcept { MoveFrom(o); }
    SmallVector& operator=(const SmallVector& o) {
        if (this != &o) {
            clear();
            for (const T& v : o) push_back(v);
        }
        return *this;
    }
    SmallVector& operator=(SmallVector&& o) noexcept {
        if (this != &o) {
            Free();
            MoveFrom(o);
        }
        return *this;
    }
    ~SmallVector() { Free(); }

    T* begin() noexcept { return data_; }
    T* end() noexcept { return data_ + size_; }
    const T* begin() const noexcept { return data_; }
    const T* end() const noexcept { return data_ + size_; }
    T* data() noexcept { return data_; }
    const T* data() const noexcept { return data_; }
    size_t size() const noexcept { return size_; }
    bool empty() const noexcept { return size_ == 0; }
    T& operator[](size_t i) noexcept { return data_[i]; }
    const T& operator[](size_t i) const noexcept { return data_[i]; }
    T& back() noexcept { return data_[size_ - 1]; }
    const T& back() const noexcept { return data_[size_ - 1]; }

    template <class... Args>
    T& emplace_back(Args&&... args) {
        if (size_ == capacity_) Grow();
        T* p = new (data_ + size_) T(std::forward<Args>(args)...);
        ++size_;
        return *p;
    }
    void push_back(const T& v) { emplace_back(v); }
    void push_back(T&& v) { emplace_back(std::move(v)); }
    void pop_back() noexcept { data_[--size_].~T(); }
    void clear() noexcept {
        std::destroy(begin(), end());
        size_ = 0;
    }
    void resize(size_t n) {
        while (size_ > n) pop_back();
        while (size_ < n) emplace_back();
    }

private:
    T* inline_data() noexcept { return std::launder(reinterpret_cast<T*>(&buffer_)); }
    bool is_inline() const noexcept { return static_cast<const void*>(data_) == static_cast<const void*>(&buffer_); }

    void Grow() {
        uint32_t capacity = capacity_ * 2;
        T* p = static_cast<T*>(::operator new(capacity * sizeof(T)));
        std::uninitialized_move(begin(), end(), p);
        std::destroy(begin(), end());
        if (!is_inline()) ::operator delete(data_);
        data_ = p;
        capacity_ = capacity;
    }
    void Free() noexcept {
        clear();
        if (!is_inline()) {
            ::operator delete(data_);
            data_ = inline_data();
            capacity_ = N;
        }
    }
    void MoveFrom(SmallVector& o) noexcept {
        if (o.is_inline()) {
            std::uninitialized_move(o.begin(), o.end(), data_);
            size_ = o.size_;
            o.clear();
        } else {
            data_ = std::exchange(o.data_, o.inline_data());
            size_ = std::exchange(o.size_, 0);
            capacity_ = std::exchange(o.capacity_, N);
        }
    }

    uint32_t size_{0};
    uint32_t capacity_{N};
    std::aligned_storage_t<sizeof(T) * N, alignof(T)> buffer_;
    T* data_{inline_data()};
};

}  // namespace chainerx
