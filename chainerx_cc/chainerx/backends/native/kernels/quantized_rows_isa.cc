// Products with rows of integers of few bits, which become numbers in registers.
//
// Words of 32 bits are spread over the lanes of a vector, and each lane keeps the bits of its own integer where they
// are: that is 2^shift times the integer. No lane is shifted, since the numbers to multiply with have 2^-shift.

#include "chainerx/backends/native/kernels/quantized_rows.h"
#include "chainerx/backends/native/kernels/simd.h"

namespace chainerx::native::CHAINERX_ISA {
namespace {

constexpr int kLanes = Simd<float>::kSize;

CHAINERX_INLINE int64_t VectorsOfBlock(const QuantizedRows& w) { return (w.block + kLanes - 1) / kLanes; }

CHAINERX_INLINE int64_t EndOfBlock(const QuantizedRows& w, int64_t block) {
    return w.k - block * w.block < w.block ? w.k : (block + 1) * w.block;
}

// Where the integers of a vector are.
template <int kBits>
struct Lanes {
    static constexpr int kBytes = kLanes * kBits / 8;
    static constexpr int kWords = kBytes < 4 ? 1 : kBytes / 4;

    // The number of a lane's integer, and its distance from the lowest bit of its word
    static CHAINERX_INLINE int Element(int lane) { return lane % kWords * (kLanes / kWords) + lane / kWords; }
    static CHAINERX_INLINE int Shift(int lane) { return lane / kWords * kBits; }
    // 2^-shift
    static CHAINERX_INLINE float Factor(int lane) { return 1.0F / static_cast<float>(int64_t{1} << Shift(lane)); }

    // Lane i has the word i % kWords.
    static CHAINERX_INLINE Vec<uint32_t> Spread(const uint8_t* p) {
        if constexpr (kWords == 1) {
            uint32_t word = 0;
            __builtin_memcpy(&word, p, kBytes);
            return Set(word);
        } else if constexpr (kWords == 2) {
            uint64_t words;
            __builtin_memcpy(&words, p, sizeof(words));
            return (Vec<uint32_t>)Set(words);
        } else {
            uint32_t words[kWords];
            __builtin_memcpy(words, p, sizeof(words));
            Vec<uint32_t> v;
            for (int i = 0; i < kLanes; ++i) v[i] = words[i % kWords];
            return v;
        }
    }
};

// Integers of a row less their center, times 2^shift of their lanes.
template <int kBits>
struct Integers {
    using Place = Lanes<kBits>;

    const uint8_t* bytes;
    Vec<uint32_t> mask;    // of an integer
    Vec<uint32_t> middle;  // of its range
    Vec<uint32_t> flip;    // makes integers with a sign some without

    CHAINERX_INLINE void Begin(const QuantizedRows& w, int64_t row) {
        bytes = w.q + row * w.row_bytes;
        for (int i = 0; i < kLanes; ++i) {
            mask[i] = ((1U << kBits) - 1U) << Place::Shift(i);
            middle[i] = 1U << (kBits - 1) << Place::Shift(i);
        }
        flip = w.is_signed ? middle : Vec<uint32_t>{};
    }

    // kLanes integers from `i` on, which begin with a byte
    CHAINERX_INLINE Vec<float> Load(int64_t i) const { return Decode(bytes + i * kBits / 8); }

    // The first `count` integers from `i` on, and others
    CHAINERX_INLINE Vec<float> LoadPart(int64_t i, int64_t count) const {
        uint8_t part[Place::kBytes] = {};
        for (int64_t j = 0; j < count && j < kLanes; ++j) {
            int64_t from = (i + j) * kBits;
            int integer = bytes[from / 8] >> (from % 8) & ((1 << kBits) - 1);
            part[j * kBits / 8] = static_cast<uint8_t>(part[j * kBits / 8] | integer << (j * kBits % 8));
        }
        return Decode(part);
    }

    CHAINERX_INLINE Vec<float> Decode(const uint8_t* p) const {
        Vec<uint32_t> integers = ((Place::Spread(p) & mask) ^ flip) - middle;
        return __builtin_convertvector((Vec<int32_t>)integers, Vec<float>);
    }
};

template <int kLeft, int kRows>
CHAINERX_INLINE void AddProducts(const Vec<float> (&integers)[kRows], const float* x, int64_t row,
                                 Vec<float> (&acc)[kLeft][kRows]) {
#pragma GCC unroll 4
    for (int l = 0; l < kLeft; ++l) {
        Vec<float> numbers = Load(x + l * row);
#pragma GCC unroll 4
        for (int r = 0; r < kRows; ++r) acc[l][r] += integers[r] * numbers;
    }
}

// The sums of products of a block from the integer `i` on: a vector for each of kLeft rows of x, which are `row`
// elements apart and arranged, and for each of kRows rows of W.
template <int kBits, int kLeft, int kRows>
CHAINERX_INLINE void AddBlock(const Integers<kBits>* w, const float* x, int64_t row, int64_t i, int64_t end,
                              Vec<float> (&acc)[kLeft][kRows]) {
    int64_t whole = i * kBits % 8 == 0 ? end - (end - i) % kLanes : i;
    for (; i < whole; i += kLanes, x += kLanes) {
        Vec<float> integers[kRows];
#pragma GCC unroll 4
        for (int r = 0; r < kRows; ++r) integers[r] = w[r].Load(i);
        AddProducts(integers, x, row, acc);
    }
    for (; i < end; i += kLanes, x += kLanes) {
        Vec<float> integers[kRows];
#pragma GCC unroll 4
        for (int r = 0; r < kRows; ++r) integers[r] = w[r].LoadPart(i, end - i);
        AddProducts(integers, x, row, acc);
    }
}

// Asks for the bytes of rows, which are too short for the processor to see where it goes on.
CHAINERX_INLINE void Prefetch(const QuantizedRows& w, int64_t first, int64_t last) {
    constexpr int kLine = 64;
    for (int64_t i = first * w.row_bytes; i < last * w.row_bytes; i += kLine) __builtin_prefetch(w.q + i);
}

// The products of kLeft rows of x from `left` on with kRows rows of W from `first` on.
template <int kBits, int kLeft, int kRows>
CHAINERX_INLINE void MultiplyGroup(const QuantizedRows& w, int64_t first, const QuantizedOperand& x, int64_t left,
                                   float* y) {
    int64_t blocks = w.blocks();
    int64_t width = VectorsOfBlock(w) * kLanes;
    Integers<kBits> rows[kRows];
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) rows[r].Begin(w, first + r);
    Vec<float> totals[kLeft][kRows] = {};
    float corrections[kLeft][kRows] = {};
    for (int64_t b = 0; b < blocks; ++b) {
        Vec<float> acc[kLeft][kRows] = {};
        const float* numbers = x.arranged + (left * blocks + b) * width;
        AddBlock<kBits, kLeft, kRows>(rows, numbers, blocks * width, b * w.block, EndOfBlock(w, b), acc);
#pragma GCC unroll 4
        for (int r = 0; r < kRows; ++r) {
            int64_t at = (first + r) * blocks + b;
            Vec<float> scale = Set(w.scales[at]);
#pragma GCC unroll 4
            for (int l = 0; l < kLeft; ++l) {
                totals[l][r] += scale * acc[l][r];
                if (w.zeros == nullptr) continue;
                float zero = w.zeros[at] - static_cast<float>(w.center());
                corrections[l][r] += w.scales[at] * zero * x.sums[(left + l) * blocks + b];
            }
        }
    }
#pragma GCC unroll 4
    for (int l = 0; l < kLeft; ++l) {
#pragma GCC unroll 4
        for (int r = 0; r < kRows; ++r) {
            y[(left + l) * w.n + first + r] = Sum<float>(totals[l][r]) - corrections[l][r];
        }
    }
}

// All rows of x with rows of W: of x, kLeft rows share the integers of kRows rows while there are so many.
template <int kBits, int kLeft, int kRows>
CHAINERX_INLINE void MultiplyRows(const QuantizedRows& w, int64_t first, int64_t last, const QuantizedOperand& x,
                                  int64_t* left, float* y) {
    for (; x.m - *left >= kLeft; *left += kLeft) {
        int64_t r = first;
        for (; last - r >= kRows; r += kRows) {
            // Of 4 bits, asking early was slower where it was measured.
            if (kBits == 8 && *left == 0) Prefetch(w, r + kRows, r + 2 * kRows < last ? r + 2 * kRows : last);
            MultiplyGroup<kBits, kLeft, kRows>(w, r, x, *left, y);
        }
        for (; r < last; ++r) MultiplyGroup<kBits, kLeft, 1>(w, r, x, *left, y);
    }
}

template <int kBits>
void Multiply(const QuantizedRows& w, int64_t first, int64_t last, const QuantizedOperand& x, float* y) {
    int64_t left = 0;
    MultiplyRows<kBits, 4, 2>(w, first, last, x, &left, y);
    MultiplyRows<kBits, 1, 4>(w, first, last, x, &left, y);
}

template <int kBits>
void Arrange(const QuantizedRows& w, const float* x, int64_t m, float* out) {
    using Place = Lanes<kBits>;
    for (int64_t row = 0; row < m; ++row, x += w.k) {
        for (int64_t b = 0; b < w.blocks(); ++b) {
            int64_t end = EndOfBlock(w, b);
            for (int64_t v = 0; v < VectorsOfBlock(w); ++v, out += kLanes) {
                int64_t i = b * w.block + v * kLanes;
                for (int lane = 0; lane < kLanes; ++lane) {
                    int64_t at = i + Place::Element(lane);
                    out[lane] = at < end ? x[at] * Place::Factor(lane) : 0.0F;
                }
            }
        }
    }
}

template <int kBits>
void Decode(const QuantizedRows& w, int64_t first, int64_t last, float* out) {
    using Place = Lanes<kBits>;
    Vec<float> factors;
    typename LaneMask<float>::V order;
    for (int lane = 0; lane < kLanes; ++lane) {
        factors[lane] = Place::Factor(lane);
        order[Place::Element(lane)] = lane;
    }
    for (int64_t r = first; r < last; ++r, out += w.k) {
        Integers<kBits> integers;
        integers.Begin(w, r);
        for (int64_t b = 0; b < w.blocks(); ++b) {
            int64_t end = EndOfBlock(w, b);
            int64_t at = r * w.blocks() + b;
            Vec<float> scale = Set(w.scales[at]);
            Vec<float> zero = Set(w.zeros != nullptr ? w.zeros[at] - static_cast<float>(w.center()) : 0.0F);
            auto decoded = [&](Vec<float> numbers) {
                return (Shuffle<float>(numbers * factors, numbers, order) - zero) * scale;
            };
            int64_t i = b * w.block;
            int64_t whole = i * kBits % 8 == 0 ? end - (end - i) % kLanes : i;
            for (; i < whole; i += kLanes) Store(out + i, decoded(integers.Load(i)));
            for (; i < end; i += kLanes) {
                float part[kLanes];
                Store(part, decoded(integers.LoadPart(i, end - i)));
                for (int64_t j = i; j < end && j < i + kLanes; ++j) out[j] = part[j - i];
            }
        }
    }
}

}  // namespace

// Calls a function for the number of bits.
#define CHAINERX_FOR_BITS(Function, bits, ...) \
    if ((bits) == 2) {                         \
        Function<2>(__VA_ARGS__);              \
    } else if ((bits) == 4) {                  \
        Function<4>(__VA_ARGS__);              \
    } else {                                   \
        Function<8>(__VA_ARGS__);              \
    }

template <class T>
void ArrangeForQuantizedRows(const QuantizedRows& w, const T* x, int64_t m, T* out) {
    CHAINERX_FOR_BITS(Arrange, w.bits, w, x, m, out)
}

template <class T>
void MultiplyQuantizedRows(const QuantizedRows& w, int64_t first, int64_t last, const QuantizedOperand& x, T* y) {
    CHAINERX_FOR_BITS(Multiply, w.bits, w, first, last, x, y)
}

template <class T>
void DecodeQuantizedRows(const QuantizedRows& w, int64_t first, int64_t last, T* out) {
    CHAINERX_FOR_BITS(Decode, w.bits, w, first, last, out)
}

template void ArrangeForQuantizedRows<float>(const QuantizedRows&, const float*, int64_t, float*);
template void MultiplyQuantizedRows<float>(const QuantizedRows&, int64_t, int64_t, const QuantizedOperand&, float*);
template void DecodeQuantizedRows<float>(const QuantizedRows&, int64_t, int64_t, float*);

}  // namespace chainerx::native::CHAINERX_ISA
