#include "chainerx/backends/native/kernels/gemm_int8.h"

#include <cstdint>
#include <random>
#include <vector>

#include "chainerx/backends/native/kernels/test_util.h"
#include "chainerx/backends/native/kernels/thread_pool.h"

namespace chainerx::native {
namespace {

struct Case {
    int64_t m;
    int64_t n;
    int64_t k;
};

const Case kCases[] = {{1, 1, 1},    {1, 10, 784},  {2, 17, 3},    {3, 16, 4},     {5, 49, 7},    {8, 48, 64},
                       {9, 130, 65}, {17, 33, 130}, {31, 64, 129}, {100, 95, 33},  {64, 1, 130},  {7, 129, 2},
                       {4, 3, 0},    {0, 3, 4},     {3, 0, 4},     {530, 20, 600}, {1, 130, 5000}};

// Bytes, of which the extremes are frequent.
std::vector<uint8_t> RandomBytes(int64_t count, unsigned seed) {
    std::mt19937 random{seed};
    std::vector<uint8_t> bytes(count);
    for (uint8_t& b : bytes) {
        uint32_t bits = random();
        static constexpr uint8_t kExtremes[] = {0, 127, 128, 255};
        b = (bits & 256U) != 0 ? kExtremes[bits & 3U] : static_cast<uint8_t>(bits);
    }
    return bytes;
}

int64_t Number(uint8_t byte, bool is_signed) { return is_signed ? static_cast<int8_t>(byte) : byte; }

// The kernels of an instruction set
struct Kernels {
    const char* name;
    void (*get_layout)(int64_t, int64_t, Int8Layout*);
    void (*pack_rows)(int64_t, int64_t, const uint8_t*, int64_t, void*, int32_t*);
    void (*pack_signed_rows)(int64_t, int64_t, const int8_t*, int64_t, void*, int32_t*);
    void (*pack_columns)(int64_t, int64_t, const uint8_t*, int64_t, int64_t, void*, int32_t*);
    void (*pack_signed_columns)(int64_t, int64_t, const int8_t*, int64_t, int64_t, void*, int32_t*);
    void (*multiply)(const Int8Factor&, const Int8Product<int32_t>&);
    void (*multiply_to_float)(const Int8Factor&, const Int8Product<float>&);
};

#define CHAINERX_KERNELS(isa)                                                                            \
    Kernels {                                                                                            \
        #isa, isa::GetInt8Layout<int8_t>, isa::PackInt8Rows<uint8_t>, isa::PackInt8Rows<int8_t>,         \
                isa::PackInt8Columns<uint8_t>, isa::PackInt8Columns<int8_t>, isa::MultiplyInt8<int32_t>, \
                isa::MultiplyInt8<float>                                                                 \
    }

std::vector<Kernels> AvailableKernels() {
    std::vector<Kernels> all{CHAINERX_KERNELS(base)};
#if CHAINERX_ISA_X86
    if (GetIsa() >= Isa::kV3) all.push_back(CHAINERX_KERNELS(v3));
    if (GetIsa() >= Isa::kV4) all.push_back(CHAINERX_KERNELS(v4));
    if (HasVnni()) all.push_back(CHAINERX_KERNELS(vnni));
#endif
    return all;
}

// All instruction sets give the sums of the plain loop, with all types, zero points, and kinds of results.
TEST(GemmInt8Test, AllInstructionSets) {
    for (const Kernels& f : AvailableKernels()) {
        for (const Case& s : kCases) {
            auto a = RandomBytes(s.m * s.k, 1);
            auto b = RandomBytes(s.k * s.n, 2);
            auto bias = RandomVector<float>(s.n + 64, 3, 100);
            auto scales = RandomVector<float>(s.n + 64, 4);
            for (int choice = 0; choice < 16; ++choice) {
                bool a_signed = (choice & 1) != 0;
                bool b_signed = (choice & 2) != 0;
                bool has_zeros = (choice & 4) != 0;
                bool is_per_row = (choice & 8) != 0;
                Int8Layout layout{};
                f.get_layout(s.k, s.n, &layout);
                std::vector<uint8_t> rows(s.m * layout.a_row);
                std::vector<uint8_t> packed(layout.b_size);
                std::vector<int32_t> a_sums(s.m);
                std::vector<int32_t> b_sums(layout.n_rounded);
                std::vector<int32_t> a_zeros(is_per_row ? s.m : 1);
                std::vector<int32_t> zeros(layout.n_rounded);
                for (size_t i = 0; i < a_zeros.size(); ++i) a_zeros[i] = static_cast<int32_t>(i * 37 % 256);
                for (size_t i = 0; i < zeros.size(); ++i) zeros[i] = static_cast<int32_t>(i * 11 % 256) - 128;
                if (a_signed) {
                    f.pack_signed_rows(s.m, s.k, reinterpret_cast<int8_t*>(a.data()), s.k, rows.data(), a_sums.data());
                } else {
                    f.pack_rows(s.m, s.k, a.data(), s.k, rows.data(), a_sums.data());
                }
                if (b_signed) {
                    f.pack_signed_columns(s.k, s.n, reinterpret_cast<int8_t*>(b.data()), s.n, 1, packed.data(),
                                          b_sums.data());
                } else {
                    f.pack_columns(s.k, s.n, b.data(), s.n, 1, packed.data(), b_sums.data());
                }
                Int8Factor factor{s.k, s.n, packed.data(), b_sums.data(), has_zeros ? zeros.data() : nullptr};
                std::vector<int32_t> c(s.m * s.n, 99);
                Int8Product<int32_t> p{};
                p.m = s.m;
                p.a = rows.data();
                p.a_row = layout.a_row;
                p.a_sums = a_sums.data();
                p.a_zeros = a_zeros.data();
                p.is_per_row = is_per_row;
                p.c = c.data();
                p.ldc = s.n;
                f.multiply(factor, p);
                std::vector<float> y(s.m * s.n, 99);
                Int8Product<float> q{s.m, rows.data(), layout.a_row, a_sums.data(), a_zeros.data(), is_per_row};
                q.scales = scales.data();
                q.bias = is_per_row ? nullptr : bias.data();
                q.relu = has_zeros;
                q.c = y.data();
                q.ldc = s.n;
                f.multiply_to_float(factor, q);
                for (int64_t i = 0; i < s.m; ++i) {
                    for (int64_t j = 0; j < s.n; ++j) {
                        int64_t sum = 0;
                        for (int64_t l = 0; l < s.k; ++l) {
                            int64_t x = Number(a[i * s.k + l], a_signed) + (a_signed ? 128 : 0);
                            int64_t w = Number(b[l * s.n + j], b_signed) - (b_signed ? 0 : 128);
                            sum += (x - a_zeros[is_per_row ? i : 0]) * (w - (has_zeros ? zeros[j] : 0));
                        }
                        ASSERT_EQ(c[i * s.n + j], sum)
                                << f.name << " " << s.m << " " << s.n << " " << s.k << " " << choice;
                        double value = static_cast<double>(sum) * scales[j] + (q.bias != nullptr ? bias[j] : 0);
                        if (q.relu && value < 0) value = 0;
                        ASSERT_NEAR(y[i * s.n + j], value, 1e-3 + 3e-7 * std::abs(static_cast<double>(sum)));
                    }
                }
            }
        }
    }
}

// Products of matrices as they are, on several threads: operands with signs and without, and B by columns, too.
TEST(GemmInt8Test, Packed) {
    int original = GetNumThreads();
    for (int threads : {1, 3}) {
        SetNumThreads(threads);
        for (const Case& s : kCases) {
            auto a = RandomBytes(s.m * s.k, 5);
            auto b = RandomBytes(s.k * s.n, 6);
            for (int choice = 0; choice < 32; ++choice) {
                Int8Matrix left{a.data(), (choice & 1) != 0, s.k, 1};
                Int8Matrix right{b.data(), (choice & 2) != 0, s.n, 1};
                if ((choice & 4) != 0) right = {b.data(), right.is_signed, 1, s.k};
                std::vector<int32_t> a_zeros((choice & 8) != 0 ? s.m : 1, left.is_signed ? -128 : 255);
                std::vector<int32_t> zeros((choice & 16) != 0 ? s.n : 1, right.is_signed ? 127 : 0);
                PackedInt8 packed{s.k, s.n, right, (choice & 24) == 0 ? nullptr : zeros.data(), zeros.size() != 1};
                std::vector<int32_t> c(s.m * s.n, 99);
                packed.Multiply(s.m, left, (choice & 24) == 0 ? nullptr : a_zeros.data(), a_zeros.size() != 1, c.data(),
                                s.n);
                int64_t a_zero = (choice & 24) == 0 ? 0 : left.is_signed ? -128 : 255;
                int64_t zero = (choice & 24) == 0 ? 0 : right.is_signed ? 127 : 0;
                for (int64_t i = 0; i < s.m; ++i) {
                    for (int64_t j = 0; j < s.n; ++j) {
                        int64_t sum = 0;
                        for (int64_t l = 0; l < s.k; ++l) {
                            sum += (Number(a[i * s.k + l], left.is_signed) - a_zero) *
                                   (Number(b[l * right.row + j * right.column], right.is_signed) - zero);
                        }
                        ASSERT_EQ(c[i * s.n + j], sum) << s.m << " " << s.n << " " << s.k << " " << choice;
                    }
                }
            }
        }
    }
    SetNumThreads(original);
}

// 2^17 products of 255 and 127 exceed 32 bits.
TEST(GemmInt8Test, SumsWrapAround) {
    constexpr int64_t kInner = 1 << 17;
    std::vector<uint8_t> a(kInner, 255);
    std::vector<uint8_t> b(kInner, 127);
    int32_t sum = 0;
    PackedInt8{kInner, 1, {b.data(), true, 1, 1}, nullptr, false}.Multiply(1, {a.data(), false, kInner, 1}, nullptr,
                                                                           false, &sum, 1);
    EXPECT_EQ(sum, static_cast<int32_t>(static_cast<uint32_t>(kInner * 255 * 127)));
}

}  // namespace
}  // namespace chainerx::native
