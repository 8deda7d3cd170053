// Sorting by radix: values become unsigned keys of the same order, which are distributed by 8 or 11 bits at a time,
// least significant first. std::sort sorts short rows.

#include "chainerx/backends/native/kernels/sort.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "chainerx/backends/native/kernels/allocator.h"
#include "chainerx/backends/native/kernels/thread_pool.h"

namespace chainerx::native {
namespace {

template <size_t kBytes>
struct UnsignedOf;
template <>
struct UnsignedOf<1> {
    using type = uint8_t;
};
template <>
struct UnsignedOf<2> {
    using type = uint16_t;
};
template <>
struct UnsignedOf<4> {
    using type = uint32_t;
};
template <>
struct UnsignedOf<8> {
    using type = uint64_t;
};

template <class T>
struct Order {
    using Key = typename UnsignedOf<sizeof(T)>::type;
    static constexpr Key kSign = static_cast<Key>(Key{1} << (sizeof(T) * 8 - 1));
    static constexpr bool kBrain = std::is_same<T, BrainHalf>::value;
    static constexpr bool kFloat = std::is_floating_point<T>::value || std::is_same<T, Half>::value || kBrain;
    // Bits of infinity: magnitudes above are NaN.
    static constexpr Key kInfinity = static_cast<Key>(kBrain           ? 0x7f80U
                                                      : sizeof(T) == 2 ? 0x7c00U
                                                      : sizeof(T) == 4 ? 0x7f800000U
                                                                       : uint64_t{0x7ff0} << (kFloat ? 48 : 0));

    static Key ToKey(T value) {
        Key bits;
        std::memcpy(&bits, &value, sizeof(bits));
        if (kFloat) {
            if (static_cast<Key>(bits & ~kSign) > kInfinity) {
                return static_cast<Key>(bits | kSign);  // NaN of either sign: last
            }
            return static_cast<Key>((bits & kSign) != 0 ? ~bits : bits | kSign);
        }
        return static_cast<Key>(std::is_signed<T>::value ? bits ^ kSign : bits);
    }

    static T FromKey(Key key) {
        Key bits = key;
        if (kFloat) {
            bits = static_cast<Key>((key & kSign) != 0 ? key ^ kSign : ~key);
        } else if (std::is_signed<T>::value) {
            bits = static_cast<Key>(key ^ kSign);
        }
        T value;
        std::memcpy(&value, &bits, sizeof(value));
        return value;
    }

    // Equal values, equal keys: NaN and NaN, -0 and 0
    static Key ToStableKey(T value) {
        Key key = ToKey(value);
        if (kFloat) {
            Key infinity = static_cast<Key>(kInfinity | kSign);
            key = key > infinity ? static_cast<Key>(infinity + 1) : key;
            key = key == static_cast<Key>(kSign - 1) ? kSign : key;
        }
        return key;
    }
};

template <class Key>
struct Entry {
    Key key;
    uint32_t index;
};

template <class Key>
Key KeyOf(Key key) {
    return key;
}
template <class Key>
Key KeyOf(const Entry<Key>& entry) {
    return entry.key;
}

// Sorts items by their keys, stably; `other` is room for as many. Returns where they are now: items or other.
template <class Key, int kDigitBits, class Item>
Item* RadixSort(int64_t n, Item* items, Item* other) {
    constexpr int kKeyBits = sizeof(Key) * 8;
    constexpr int kDigits = (kKeyBits + kDigitBits - 1) / kDigitBits;
    constexpr int kBuckets = 1 << kDigitBits;
    Scratch<int64_t> counts{kDigits * kBuckets};
    std::fill(counts.data(), counts.data() + kDigits * kBuckets, 0);
    for (int64_t i = 0; i < n; ++i) {
        Key key = KeyOf(items[i]);
        for (int digit = 0; digit < kDigits; ++digit) {
            ++counts.data()[digit * kBuckets + ((key >> (digit * kDigitBits)) & (kBuckets - 1))];
        }
    }
    for (int digit = 0; digit < kDigits; ++digit) {
        int64_t* count = counts.data() + digit * kBuckets;
        int shift = digit * kDigitBits;
        if (count[(KeyOf(items[0]) >> shift) & (kBuckets - 1)] == n) {
            continue;  // all the same
        }
        int64_t offset = 0;
        for (int bucket = 0; bucket < kBuckets; ++bucket) {
            int64_t size = count[bucket];
            count[bucket] = offset;
            offset += size;
        }
        for (int64_t i = 0; i < n; ++i) {
            other[count[(KeyOf(items[i]) >> shift) & (kBuckets - 1)]++] = items[i];
        }
        std::swap(items, other);
    }
    return items;
}

// Wide digits make fewer passes, but more counters to clear.
template <class Key, class Item>
Item* RadixSort(int64_t n, Item* items, Item* other) {
    return sizeof(Key) <= 2 || n < 4096 ? RadixSort<Key, 8>(n, items, other) : RadixSort<Key, 11>(n, items, other);
}

constexpr int64_t kShort = 256;

int64_t RowGrain(int64_t n) { return 1 + 4096 / (n + 1); }

}  // namespace

template <class T>
void SortRows(int64_t rows, int64_t n, const T* x, T* y) {
    using Key = typename Order<T>::Key;
    if (n == 0) {
        return;
    }
    ParallelFor(rows, RowGrain(n), [&](int64_t begin, int64_t end) {
        Scratch<Key> keys{n};
        Scratch<Key> other{n <= kShort ? 0 : n};
        for (int64_t row = begin; row < end; ++row) {
            for (int64_t i = 0; i < n; ++i) {
                keys.data()[i] = Order<T>::ToKey(x[row * n + i]);
            }
            Key* sorted = keys.data();
            if (n <= kShort) {
                std::sort(sorted, sorted + n);
            } else {
                sorted = RadixSort<Key>(n, keys.data(), other.data());
            }
            for (int64_t i = 0; i < n; ++i) {
                y[row * n + i] = Order<T>::FromKey(sorted[i]);
            }
        }
    });
}

template <class T>
void ArgsortRows(int64_t rows, int64_t n, const T* x, int64_t* index) {
    using Key = typename Order<T>::Key;
    if (n == 0) {
        return;
    }
    if (n > int64_t{0xffffffff}) {
        // The row is too long for the indices of an entry.
        for (int64_t row = 0; row < rows; ++row) {
            int64_t* out = index + row * n;
            for (int64_t i = 0; i < n; ++i) {
                out[i] = i;
            }
            std::stable_sort(out, out + n, [&](int64_t a, int64_t b) {
                return Order<T>::ToStableKey(x[row * n + a]) < Order<T>::ToStableKey(x[row * n + b]);
            });
        }
        return;
    }
    ParallelFor(rows, RowGrain(n), [&](int64_t begin, int64_t end) {
        Scratch<Entry<Key>> entries{n};
        Scratch<Entry<Key>> other{n <= kShort ? 0 : n};
        for (int64_t row = begin; row < end; ++row) {
            for (int64_t i = 0; i < n; ++i) {
                entries.data()[i] = {Order<T>::ToStableKey(x[row * n + i]), static_cast<uint32_t>(i)};
            }
            Entry<Key>* sorted = entries.data();
            if (n <= kShort) {
                std::sort(sorted, sorted + n, [](const Entry<Key>& a, const Entry<Key>& b) {
                    return a.key != b.key ? a.key < b.key : a.index < b.index;
                });
            } else {
                sorted = RadixSort<Key>(n, entries.data(), other.data());
            }
            for (int64_t i = 0; i < n; ++i) {
                index[row * n + i] = sorted[i].index;
            }
        }
    });
}

#define CHAINERX_INSTANTIATE(T)                                \
    template void SortRows<T>(int64_t, int64_t, const T*, T*); \
    template void ArgsortRows<T>(int64_t, int64_t, const T*, int64_t*);
CHAINERX_INSTANTIATE(bool)
CHAINERX_INSTANTIATE(int8_t)
CHAINERX_INSTANTIATE(int16_t)
CHAINERX_INSTANTIATE(int32_t)
CHAINERX_INSTANTIATE(int64_t)
CHAINERX_INSTANTIATE(uint8_t)
CHAINERX_INSTANTIATE(uint16_t)
CHAINERX_INSTANTIATE(uint32_t)
CHAINERX_INSTANTIATE(uint64_t)
CHAINERX_INSTANTIATE(Half)
CHAINERX_INSTANTIATE(BrainHalf)
CHAINERX_INSTANTIATE(float)
CHAINERX_INSTANTIATE(double)
#undef CHAINERX_INSTANTIATE

}  // namespace chainerx::native
