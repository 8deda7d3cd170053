#pragma once

// What the comparisons with NVIDIA's headers have in common.

#include <type_traits>

namespace chainerx::cuda::checks {

// Whether calls pass both in the same way: pointers, numbers or structures of one size.
template <class A, class B>
constexpr bool kPassesAs = [] {
    if constexpr (std::is_enum_v<B> && (std::is_enum_v<A> || std::is_same_v<A, int>)) {
        return sizeof(A) == sizeof(B);
    } else if constexpr (std::is_class_v<A> && std::is_class_v<B>) {
        return sizeof(A) == sizeof(B) && alignof(A) == alignof(B);
    } else {
        return std::is_same_v<A, B> || (std::is_pointer_v<A> && std::is_pointer_v<B>);
    }
}();

template <class F, class G>
constexpr bool kSameCall = false;
template <class R, class... A, class S, class... B>
constexpr bool kSameCall<R(A...), S(B...)> = [] {
    if constexpr (sizeof...(A) == sizeof...(B)) {
        return kPassesAs<R, S> && (kPassesAs<A, B> && ...);
    } else {
        return false;
    }
}();

template <class A, class B>
constexpr bool kSame(A a, B b) {
    return static_cast<int>(a) == static_cast<int>(b);
}

}  // namespace chainerx::cuda::checks
