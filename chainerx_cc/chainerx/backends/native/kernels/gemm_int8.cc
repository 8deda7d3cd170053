#include "chainerx/backends/native/kernels/gemm_int8.h"

#include <algorithm>

namespace chainerx::native {
namespace {

Int8Layout LayoutOf(int64_t k, int64_t n) {
    Int8Layout layout;
    GetInt8Layout<int8_t>(k, n, &layout);
    return layout;
}

// Calls f with the elements in their type.
template <class F>
void Visit(const Int8Matrix& x, const F& f) {
    if (x.is_signed) {
        f(static_cast<const int8_t*>(x.data));
    } else {
        f(static_cast<const uint8_t*>(x.data));
    }
}

}  // namespace

PackedInt8::PackedInt8(int64_t k, int64_t n, const Int8Matrix& b, const int32_t* zeros, bool is_per_column)
    : k_{k}, n_{n}, layout_{LayoutOf(k, n)}, packed_{layout_.b_size}, sums_{layout_.n_rounded} {
    Visit(b, [&](auto* data) { PackInt8Columns(k, n, data, b.row, b.column, packed_.data(), sums_.data()); });
    int32_t shift = b.is_signed ? 0 : -128;
    auto zero_of = [&](int64_t i) { return (zeros != nullptr ? zeros[is_per_column ? i : 0] : 0) + shift; };
    bool is_needed = false;
    for (int64_t i = 0; i < n; ++i) is_needed = is_needed || zero_of(i) != 0;
    if (!is_needed) return;
    zeros_.emplace(layout_.n_rounded);
    for (int64_t i = 0; i < layout_.n_rounded; ++i) zeros_->data()[i] = i < n ? zero_of(i) : 0;
}

template <class T>
void PackedInt8::Run(int64_t m, const Int8Matrix& a, const int32_t* a_zeros, bool is_per_row,
                     Int8Product<T>* product) const {
    bool is_ready = layout_.takes_bytes && !a.is_signed && !zeros_;
    Scratch<char> packed{is_ready ? 0 : m * layout_.a_row};
    Scratch<int32_t> sums{zeros_ ? m : 0};
    if (!is_ready) {
        Visit(a, [&](auto* data) { PackInt8Rows(m, k_, data, a.row, packed.data(), zeros_ ? sums.data() : nullptr); });
    }
    int64_t count = is_per_row ? m : 1;
    Scratch<int32_t> shifted{count};
    for (int64_t i = 0; i < count; ++i) {
        shifted.data()[i] = (a_zeros != nullptr ? a_zeros[i] : 0) + (a.is_signed ? 128 : 0);
    }
    product->m = m;
    product->a = is_ready ? a.data : packed.data();
    product->a_row = is_ready ? a.row : layout_.a_row;
    product->a_sums = sums.data();
    product->a_zeros = shifted.data();
    product->is_per_row = is_per_row;
    MultiplyInt8({k_, n_, packed_.data(), sums_.data(), zeros_ ? zeros_->data() : nullptr}, *product);
}

void PackedInt8::Multiply(int64_t m, const Int8Matrix& a, const int32_t* a_zeros, bool is_per_row, int32_t* c,
                          int64_t ldc) const {
    Int8Product<int32_t> product{};
    product.c = c;
    product.ldc = ldc;
    Run(m, a, a_zeros, is_per_row, &product);
}

void PackedInt8::Multiply(int64_t m, const Int8Matrix& a, const int32_t* a_zeros, bool is_per_row,
                          const Int8Epilogue& epilogue, float* c) const {
    Int8Product<float> product{};
    Scratch<float> padded{2 * layout_.n_rounded};
    float* scales = padded.data();
    float* bias = scales + layout_.n_rounded;
    for (int64_t i = 0; i < layout_.n_rounded; ++i) {
        scales[i] = epilogue.scale * (epilogue.scales != nullptr && i < n_ ? epilogue.scales[i] : 1.0F);
        bias[i] = epilogue.bias != nullptr && i < n_ ? epilogue.bias[i] : 0.0F;
    }
    product.scales = scales;
    product.bias = epilogue.bias != nullptr ? bias : nullptr;
    product.relu = epilogue.relu;
    product.c = c;
    product.ldc = n_;
    Run(m, a, a_zeros, is_per_row, &product);
}

}  // namespace chainerx::native
