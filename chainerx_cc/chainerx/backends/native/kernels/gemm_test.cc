#include "chainerx/backends/native/kernels/gemm.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "chainerx/backends/native/kernels/gemm_packed.h"
#include "chainerx/backends/native/kernels/gemm_small.h"
#include "chainerx/backends/native/kernels/test_util.h"
#include "chainerx/backends/native/kernels/thread_pool.h"

namespace chainerx::native {
namespace {

struct Shape {
    int64_t m, n, k;
};

// The largest error of `gemm` against sums in double, with padded rows and padding checked to be untouched.
// `after` changes the value expected in a column.
template <class T, class F, class After>
double GemmError(const F& gemm, bool ta, bool tb, Shape s, T alpha, T beta, const After& after) {
    constexpr int64_t kPad = 3;
    int64_t lda = (ta ? s.m : s.k) + kPad;
    int64_t ldb = (tb ? s.k : s.n) + kPad;
    int64_t ldc = s.n + kPad;
    auto a = RandomVector<T>((ta ? s.k : s.m) * lda + 1, 1);
    auto b = RandomVector<T>((tb ? s.n : s.k) * ldb + 1, 2);
    auto c = RandomVector<T>(s.m * ldc + 1, 3);
    auto expected = c;
    if (beta == T{0}) {
        for (int64_t i = 0; i < s.m; ++i) {
            for (int64_t j = 0; j < s.n; ++j) {
                c[i * ldc + j] = std::numeric_limits<T>::quiet_NaN();
            }
        }
    }
    gemm(ta, tb, s.m, s.n, s.k, alpha, a.data(), lda, b.data(), ldb, beta, c.data(), ldc);
    double error = 0;
    for (int64_t i = 0; i < s.m; ++i) {
        for (int64_t j = 0; j < ldc; ++j) {
            double value = expected[i * ldc + j];
            if (j < s.n) {
                double sum = 0;
                for (int64_t p = 0; p < s.k; ++p) {
                    sum += static_cast<double>(a[ta ? p * lda + i : i * lda + p]) *
                           static_cast<double>(b[tb ? j * ldb + p : p * ldb + j]);
                }
                value = after(j, alpha * sum + beta * value);
            }
            double difference = std::abs(value - c[i * ldc + j]);
            error = difference <= error ? error : difference;  // a NaN wins
        }
    }
    return error;
}

template <class T, class F>
double GemmError(const F& gemm, bool ta, bool tb, Shape s, T alpha, T beta) {
    return GemmError(gemm, ta, tb, s, alpha, beta, [](int64_t, double sum) { return sum; });
}

// Sums by GemmSum have the bits of products by Gemm that are added one after the other.
template <class T>
void CheckSum(bool ta, bool tb, Shape s) {
    constexpr int kCount = 3;
    int64_t lda = (ta ? s.m : s.k) + 1;
    int64_t ldb = (tb ? s.k : s.n) + 2;
    auto a = RandomVector<T>(kCount * s.m * s.k * 2 + kCount * (s.m + s.k), 1);
    auto b = RandomVector<T>(kCount * s.n * s.k * 2 + kCount * (s.n + s.k) * 2, 2);
    std::vector<GemmTerm<T>> terms;
    std::vector<T> expected(s.m * s.n);
    std::vector<T> c = expected;
    std::vector<T> product(s.m * s.n);
    for (int i = 0; i < kCount; ++i) {
        GemmTerm<T> t{ta, a.data() + i * s.m, lda, tb, b.data() + i * s.n, ldb, s.k};
        terms.push_back(t);
        Gemm<T>(ta, tb, s.m, s.n, s.k, T{1}, t.a, lda, t.b, ldb, T{0}, product.data(), s.n);
        for (int64_t j = 0; j < s.m * s.n; ++j) {
            expected[j] = i == 0 ? product[j] : expected[j] + product[j];
        }
    }
    GemmSum<T>(s.m, s.n, terms, c.data());
    EXPECT_EQ(c, expected) << ta << tb << ' ' << s.m << ' ' << s.n << ' ' << s.k;
}

template <class T>
class GemmTest : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(GemmTest, Types);

TYPED_TEST(GemmTest, Sums) {
    int original = GetNumThreads();
    for (int threads : {1, 3}) {
        SetNumThreads(threads);
        for (Shape s : {Shape{300, 512, 20}, Shape{65, 512, 20}, Shape{37, 40, 20}, Shape{1, 1, 9}, Shape{9, 1, 30},
                        Shape{1, 70, 3}, Shape{150, 140, 60}, Shape{20, 30, 600}, Shape{3, 4, 5}, Shape{5, 6, 0}}) {
            for (int layout = 0; layout < 4; ++layout) CheckSum<TypeParam>((layout & 1) != 0, (layout & 2) != 0, s);
        }
    }
    SetNumThreads(original);
}

TYPED_TEST(GemmTest, AllShapes) {
    using T = TypeParam;
    for (int threads : {1, 3}) {
        int original = GetNumThreads();
        SetNumThreads(threads);
        for (Shape s :
             {Shape{1, 1, 1}, Shape{1, 16, 784}, Shape{1, 784, 16}, Shape{16, 784, 1}, Shape{16, 16, 16},
              Shape{784, 1, 10}, Shape{3, 5, 7}, Shape{4, 33, 130}, Shape{7, 100, 3}, Shape{65, 67, 69},
              Shape{100, 200, 50}, Shape{1, 300, 300}, Shape{300, 1, 301}, Shape{5, 1000, 64}, Shape{1000, 5, 64}}) {
            for (int trans = 0; trans < 4; ++trans) {
                for (T beta : {T{0}, T{1}, T{0.5}}) {
                    double error = GemmError<T>(Gemm<T>, (trans & 1) != 0, (trans & 2) != 0, s, T{1.5}, beta);
                    EXPECT_LE(error, s.k * 4 * std::numeric_limits<T>::epsilon())
                            << s.m << " " << s.n << " " << s.k << " " << trans;
                }
            }
        }
        SetNumThreads(original);
    }
}

TYPED_TEST(GemmTest, SmallKernelOnAllInstructionSets) {
    using T = TypeParam;
    std::vector<Shape> shapes{{20, 150, 32}, {7, 70, 2500}, {12, 37, 33}};
    for (int64_t m : {1, 2, 3, 4, 5, 9}) {
        for (int64_t n : {1, 2, 15, 16, 17, 70, 131}) {
            for (int64_t k : {1, 3, 16, 150}) shapes.push_back({m, n, k});
        }
    }
    auto check = [&](auto gemm, const char* name) {
        for (const Shape& s : shapes) {
            for (int trans = 0; trans < 4; ++trans) {
                double error = GemmError<T>(gemm, (trans & 1) != 0, (trans & 2) != 0, s, T{0.5}, T{2});
                EXPECT_LE(error, s.k * 4 * std::numeric_limits<T>::epsilon())
                        << name << s.m << " " << s.n << " " << s.k << " " << trans;
            }
        }
    };
    check(base::GemmSmall<T>, "base");
#if CHAINERX_ISA_X86
    if (GetIsa() >= Isa::kV3) {
        check(v3::GemmSmall<T>, "v3");
    }
    if (GetIsa() >= Isa::kV4) {
        check(v4::GemmSmall<T>, "v4");
    }
#endif
}

TYPED_TEST(GemmTest, ZeroSizes) {
    using T = TypeParam;
    std::vector<T> c{1, 2, 3, 4};
    Gemm<T>(false, false, 2, 2, 0, 1, nullptr, 1, nullptr, 2, 0.5, c.data(), 2);
    EXPECT_EQ(c, (std::vector<T>{0.5, 1, 1.5, 2}));
    Gemm<T>(false, false, 0, 2, 5, 1, nullptr, 5, nullptr, 2, 0, c.data(), 2);
    Gemm<T>(false, false, 2, 0, 5, 1, nullptr, 5, nullptr, 1, 0, c.data(), 1);
    EXPECT_EQ(c, (std::vector<T>{0.5, 1, 1.5, 2}));
    Gemm<T>(false, false, 2, 2, 0, 1, nullptr, 1, nullptr, 2, 0, c.data(), 2);
    EXPECT_EQ(c, (std::vector<T>{0, 0, 0, 0}));
}

TYPED_TEST(GemmTest, Batched) {
    using T = TypeParam;
    constexpr int64_t kBatch = 6;
    constexpr int64_t kM = 5;
    constexpr int64_t kN = 7;
    constexpr int64_t kK = 9;
    auto a = RandomVector<T>(kBatch * kM * kK, 1);
    auto b = RandomVector<T>(kBatch * kK * kN, 2);
    for (int64_t stride_b : {int64_t{0}, kK * kN}) {
        std::vector<T> c(kBatch * kM * kN, T{9});
        GemmBatched<T>(false, false, kBatch, kM, kN, kK, 1, a.data(), kK, kM * kK, b.data(), kN, stride_b, 0, c.data(),
                       kN, kM * kN);
        for (int64_t i = 0; i < kBatch; ++i) {
            std::vector<T> one(kM * kN);
            Gemm<T>(false, false, kM, kN, kK, 1, a.data() + i * kM * kK, kK, b.data() + i * stride_b, kN, 0, one.data(),
                    kN);
            for (int64_t j = 0; j < kM * kN; ++j) {
                EXPECT_NEAR(one[j], c[i * kM * kN + j], 1e-5);
            }
        }
    }
}

TYPED_TEST(GemmTest, PackedOnAllInstructionSets) {
    using T = TypeParam;
    auto check = [](auto get_size, auto pack, auto multiply, const char* name) {
        for (Shape s : {Shape{1, 1, 1}, Shape{0, 3, 2}, Shape{20, 64, 128}, Shape{7, 100, 300}, Shape{70, 65, 129},
                        Shape{5, 49, 1030}, Shape{70, 33, 2100}, Shape{2, 16, 513}}) {
            for (int choice = 0; choice < 16; ++choice) {
                bool trans = (choice & 1) != 0;
                auto bias = RandomVector<T>(s.n, 4);
                Product<T> p{};
                p.m = s.m;
                p.accumulate = (choice & 2) != 0;
                p.bias = (choice & 4) != 0 ? bias.data() : nullptr;
                p.relu = (choice & 8) != 0;
                auto gemm = [&](bool, bool, int64_t, int64_t n, int64_t k, T, const T* a, int64_t lda, const T* b,
                                int64_t ldb, T, T* c, int64_t ldc) {
                    int64_t size = 0;
                    get_size(k, n, &size);
                    std::vector<T> packed(size);
                    pack(trans, k, n, b, ldb, packed.data());
                    p.a = a;
                    p.lda = lda;
                    p.c = c;
                    p.ldc = ldc;
                    multiply(k, n, packed.data(), p);
                };
                auto after = [&](int64_t column, double sum) {
                    double value = sum + (p.bias != nullptr ? bias[column] : 0);
                    return p.relu && value < 0 ? 0 : value;
                };
                T beta = p.accumulate ? T{1} : T{0};
                EXPECT_LE(GemmError<T>(gemm, false, trans, s, T{1}, beta, after),
                          s.k * 4 * std::numeric_limits<T>::epsilon())
                        << name << s.m << " " << s.n << " " << s.k << " " << choice;
            }
        }
    };
    check(GetPackedMatrixSize<T>, PackMatrix<T>, MultiplyPacked<T>, "best ");
    check(base::GetPackedMatrixSize<T>, base::PackMatrix<T>, base::MultiplyPacked<T>, "base ");
#if CHAINERX_ISA_X86
    if (GetIsa() >= Isa::kV3) {
        check(v3::GetPackedMatrixSize<T>, v3::PackMatrix<T>, v3::MultiplyPacked<T>, "v3 ");
    }
#endif
    int original = GetNumThreads();
    SetNumThreads(3);
    check(GetPackedMatrixSize<T>, PackMatrix<T>, MultiplyPacked<T>, "3 threads ");
    SetNumThreads(original);
}

TYPED_TEST(GemmTest, TooLargeForBlas) {
    using T = TypeParam;
    T value{};
    EXPECT_THROW(Gemm<T>(false, false, 2, int64_t{1} << 32, 1 << 20, 1, &value, 1, &value, 1, 0, &value, 1),
                 std::invalid_argument);
}

TYPED_TEST(GemmTest, WorksAfterFork) {
    using T = TypeParam;
    int original = GetNumThreads();
    SetNumThreads(2);
    EXPECT_LE(GemmError<T>(Gemm<T>, false, true, Shape{200, 200, 200}, 1, 0), 1e-3);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(20);
        _exit(GemmError<T>(Gemm<T>, false, true, Shape{200, 200, 200}, 1, 0) <= 1e-3 ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
    SetNumThreads(original);
}

// OpenBLAS has locks, which a child must not copy locked.
TYPED_TEST(GemmTest, WorksAfterForkWhileOthersMultiply) {
    using T = TypeParam;
    auto multiply = [] { return GemmError<T>(Gemm<T>, false, true, Shape{80, 80, 80}, 1, 0); };
    std::atomic<bool> stopped{false};
    std::vector<std::thread> others;
    for (int i = 0; i < 3; ++i) {
        others.emplace_back([&] {
            T a[80 * 80]{};
            T c[80 * 80];
            while (!stopped) Gemm<T>(false, true, 80, 80, 80, 1, a, 80, a, 80, 0, c, 80);
        });
    }
    for (int i = 0; i < 100; ++i) {
        pid_t pid = fork();
        if (pid == 0) {
            alarm(20);
            if (fork() == 0) _exit(multiply() <= 1e-3 ? 0 : 1);
            int status = -1;
            wait(&status);
            _exit(status == 0 && multiply() <= 1e-3 ? 0 : 1);
        }
        int status = -1;
        EXPECT_EQ(waitpid(pid, &status, 0), pid);
        EXPECT_EQ(status, 0);
        if (status != 0) break;
    }
    stopped = true;
    for (std::thread& thread : others) thread.join();
}

}  // namespace
}  // namespace chainerx::native
