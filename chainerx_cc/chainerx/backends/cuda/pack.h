#pragma once

namespace chainerx::cuda {

// Elements that move as one access to memory. Loops over them are unrolled and their counts are constant: only so they
// stay in registers.
template <class T, int N>
struct alignas(sizeof(T) * N) Pack {
    T values[N];
};

// The first `count` elements from an address on, and zeros. `whole`: all of them, at an address that fits a Pack.
template <int N, class T>
__device__ Pack<T, N> LoadPack(const T* from, int count, bool whole) {
    if (whole) return *reinterpret_cast<const Pack<T, N>*>(from);
    Pack<T, N> pack;
#pragma unroll
    for (int j = 0; j < N; ++j) pack.values[j] = j < count ? from[j] : T{};
    return pack;
}

template <class T, int N>
__device__ void StorePack(const Pack<T, N>& pack, T* to, int count, bool whole) {
    if (whole) {
        *reinterpret_cast<Pack<T, N>*>(to) = pack;
        return;
    }
#pragma unroll
    for (int j = 0; j < N; ++j) {
        if (j < count) to[j] = pack.values[j];
    }
}

}  // namespace chainerx::cuda
