// Timings of the kernels: chainerx_native_kernels_bench [name-prefix]. Prints the best time of several runs:
// processor time with one thread, which a busy machine disturbs less, else wall-clock time.

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "chainerx/backends/native/kernels/allocator.h"
#include "chainerx/backends/native/kernels/conv.h"
#include "chainerx/backends/native/kernels/gemm.h"
#include "chainerx/backends/native/kernels/gemm_int8.h"
#include "chainerx/backends/native/kernels/gemm_packed.h"
#include "chainerx/backends/native/kernels/math_loops.h"
#include "chainerx/backends/native/kernels/norm.h"
#include "chainerx/backends/native/kernels/pool.h"
#include "chainerx/backends/native/kernels/rnn.h"
#include "chainerx/backends/native/kernels/softmax.h"
#include "chainerx/backends/native/kernels/sort.h"
#include "chainerx/backends/native/kernels/test_util.h"
#include "chainerx/backends/native/kernels/thread_pool.h"

namespace chainerx::native {
namespace {

const char* g_prefix = "";

// Runs `body` for about 0.2 s and prints nanoseconds per call.
template <class F>
void Bench(const char* name, const F& body) {
    if (std::strncmp(name, g_prefix, std::strlen(g_prefix)) != 0) {
        return;
    }
    clockid_t clock = GetNumThreads() == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
    auto now = [clock] {
        timespec t{};
        clock_gettime(clock, &t);
        return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
    };
    auto time = [&](int64_t calls) {
        double start = now();
        for (int64_t i = 0; i < calls; ++i) {
            body();
        }
        return now() - start;
    };
    int64_t calls = 1;
    while (time(calls) < 1e7) {
        calls *= 2;
    }
    double best = 1e30;
    for (int i = 0; i < 7; ++i) {
        best = std::min(best, time(calls) / static_cast<double>(calls));
    }
    std::printf("%-50s %14.1f ns\n", name, best);
    std::fflush(stdout);
}

void BenchAllocator() {
    for (size_t bytes : {size_t{64}, size_t{4096}, size_t{1} << 20}) {
        char name[80];
        std::snprintf(name, sizeof(name), "allocate+free %zu", bytes);
        Bench(name, [&] { Free(Allocate(bytes), bytes); });
        std::snprintf(name, sizeof(name), "scratch of %zu", bytes);
        Bench(name, [&] { FreeScratch(AllocateScratch(bytes), bytes); });
    }
}

void BenchGemm() {
    struct Shape {
        bool ta, tb;
        int64_t m, n, k;
    };
    for (Shape s : {Shape{false, true, 1, 16, 784},        Shape{false, true, 1, 16, 16},
                    Shape{true, false, 16, 784, 1},        Shape{false, false, 1, 784, 16},
                    Shape{false, false, 16, 16, 16},       Shape{false, true, 16, 16, 16},
                    Shape{true, false, 16, 16, 16},        Shape{false, false, 24, 24, 24},
                    Shape{false, false, 32, 32, 32},       Shape{false, true, 32, 32, 32},
                    Shape{false, false, 64, 64, 64},       Shape{false, true, 100, 1000, 784},
                    Shape{true, false, 1000, 784, 100},    Shape{false, false, 100, 784, 1000},
                    Shape{false, true, 20, 2048, 512},     Shape{false, false, 512, 512, 512},
                    Shape{false, false, 1024, 1024, 1024}, Shape{false, true, 1, 1000, 1000},
                    Shape{false, false, 1, 1000, 1000},    Shape{false, false, 100, 1000, 1000},
                    Shape{false, false, 100, 10, 1000},    Shape{false, true, 1, 1000, 2048},
                    Shape{false, true, 1, 10, 16},         Shape{false, false, 256, 768, 256},
                    Shape{false, false, 256, 256, 1024},   Shape{false, false, 4, 1024, 256},
                    Shape{false, false, 2000, 1000, 64},   Shape{false, false, 40, 4096, 4096}}) {
        std::vector<float> a(s.m * s.k, 0.5F);
        std::vector<float> b(s.k * s.n, 0.25F);
        std::vector<float> c(s.m * s.n, 0.0F);
        char name[80];
        std::snprintf(name, sizeof(name), "gemm %c%c %ld %ld %ld", s.ta ? 'T' : 'N', s.tb ? 'T' : 'N',
                      static_cast<long>(s.m), static_cast<long>(s.n), static_cast<long>(s.k));
        Bench(name, [&] {
            Gemm<float>(s.ta, s.tb, s.m, s.n, s.k, 1, a.data(), s.ta ? s.m : s.k, b.data(), s.tb ? s.k : s.n, 0,
                        c.data(), s.n);
        });
        if (s.ta) continue;
        PackedMatrix<float> packed{s.tb, s.k, s.n, b.data(), s.tb ? s.k : s.n};
        std::snprintf(name, sizeof(name), "gemm packed %ld %ld %ld", static_cast<long>(s.m), static_cast<long>(s.n),
                      static_cast<long>(s.k));
        Bench(name, [&] { packed.Multiply({s.m, a.data(), s.k, false, nullptr, false, c.data(), s.n}); });
    }
}

void BenchInt8() {
    struct Shape {
        int64_t m, n, k;
    };
    for (Shape s :
         {Shape{1, 1000, 784}, Shape{1, 10, 1000}, Shape{100, 1000, 784}, Shape{100, 10, 1000}, Shape{512, 512, 512}}) {
        std::vector<uint8_t> a(s.m * s.k, 3);
        std::vector<int8_t> b(s.k * s.n, 5);
        std::vector<int32_t> c(s.m * s.n);
        Int8Matrix left{a.data(), false, s.k, 1};
        Int8Matrix right{b.data(), true, s.n, 1};
        char name[80];
        auto bench = [&](const char* what, const auto& body) {
            std::snprintf(name, sizeof(name), "int8 %s %ld %ld %ld", what, static_cast<long>(s.m),
                          static_cast<long>(s.n), static_cast<long>(s.k));
            Bench(name, body);
        };
        PackedInt8 packed{s.k, s.n, right, nullptr, false};
        bench("packed", [&] { packed.Multiply(s.m, left, nullptr, false, c.data(), s.n); });
        bench("packing", [&] { PackedInt8{s.k, s.n, right, nullptr, false}; });
    }
}

void BenchMath() {
    constexpr int64_t kCount = 1 << 20;
    std::vector<float> x(kCount);
    std::vector<float> p(kCount, 1.5F);
    std::vector<float> y(kCount);
    for (int64_t i = 0; i < kCount; ++i) {
        x[i] = static_cast<float>(i) / kCount * 0.98F + 0.01F;
    }
#define CHAINERX_BENCH(Name)                                                             \
    Bench("math " #Name " float 1M", [&] {                                               \
        const float* in = UnaryMath::k##Name == UnaryMath::kAcosh ? p.data() : x.data(); \
        UnaryMathLoop<float>(UnaryMath::k##Name, kCount, in, y.data());                  \
    });
    CHAINERX_UNARY_MATH(CHAINERX_BENCH)
    CHAINERX_FAST_UNARY_MATH(CHAINERX_BENCH)
#undef CHAINERX_BENCH
    Bench("math Pow float 1M",
          [&] { BinaryMathLoop<float>(BinaryMath::kPow, kCount, x.data(), 1, p.data(), 1, y.data()); });
    Bench("math Atan2 float 1M",
          [&] { BinaryMathLoop<float>(BinaryMath::kAtan2, kCount, x.data(), 1, p.data(), 1, y.data()); });
}

void BenchLayers() {
    constexpr int64_t kBatch = 32;
    constexpr int64_t kChannels = 64;
    constexpr int64_t kSide = 32;
    constexpr int64_t kCount = kBatch * kChannels * kSide * kSide;
    std::vector<float> x = RandomVector<float>(kCount, 0);
    std::vector<float> g = RandomVector<float>(kCount, 1);
    std::vector<float> y(kCount);
    std::vector<int64_t> index(kCount);
    std::vector<float> c(6 * 4096, 1.0F);
    for (int64_t kernel : {2, 3}) {
        ConvShape s{};
        s.ndim = 2;
        s.batch = kBatch;
        s.in_channels = kChannels;
        for (int d = 0; d < 2; ++d) {
            s.in[d] = kSide;
            s.kernel[d] = kernel;
            s.stride[d] = 2;
            s.pad[d] = kernel == 3 ? 1 : 0;
            s.out[d] = kSide / 2;
            s.dilation[d] = 1;
        }
        char name[80];
        auto bench = [&](const char* what, auto body) {
            std::snprintf(name, sizeof(name), "pool %s 32x64x32x32 k%ld s2", what, static_cast<long>(kernel));
            Bench(name, body);
        };
        bench("max fwd", [&] { MaxPoolForward<float>(s, x.data(), y.data(), index.data()); });
        bench("max bwd", [&] { MaxPoolBackward<float>(s, g.data(), index.data(), y.data()); });
        bench("average fwd", [&] { AveragePoolForward<float>(s, PoolPadding::kZero, x.data(), y.data()); });
        bench("average bwd", [&] { AveragePoolBackward<float>(s, PoolPadding::kZero, g.data(), y.data()); });
    }
    float* mean = c.data() + 4096;
    float* var = mean + 4096;
    float* inv_std = var + 4096;
    float* ggamma = inv_std + 4096;
    float* gbeta = ggamma + 4096;
    const float* gamma = c.data();
    Bench("norm batch fwd 32x64x32x32", [&] {
        BatchNormForward<float>(kBatch, kChannels, kSide * kSide, x.data(), gamma, gamma, 1e-5F, y.data(), mean, var,
                                inv_std);
    });
    Bench("norm batch bwd 32x64x32x32", [&] {
        BatchNormBackward<float>(kBatch, kChannels, kSide * kSide, x.data(), gamma, g.data(), mean, inv_std, y.data(),
                                 ggamma, gbeta);
    });
    Bench("norm batch fwd 100x1000",
          [&] { BatchNormForward<float>(100, 1000, 1, x.data(), gamma, gamma, 1e-5F, y.data(), mean, var, inv_std); });
    Bench("norm layer fwd 2048x1024",
          [&] { LayerNormForward<float>(2048, 1024, x.data(), gamma, gamma, 1e-5F, y.data(), mean, inv_std); });
    Bench("norm layer bwd 2048x1024", [&] {
        LayerNormBackward<float>(2048, 1024, x.data(), gamma, g.data(), mean, inv_std, y.data(), ggamma, gbeta);
    });
    Bench("softmax fwd 2048x1024", [&] { SoftmaxForward<float>(2048, 1024, 1, x.data(), y.data()); });
    Bench("softmax bwd 2048x1024", [&] { SoftmaxBackward<float>(2048, 1024, 1, x.data(), g.data(), y.data()); });
    Bench("softmax log fwd 2048x1024", [&] { LogSoftmaxForward<float>(2048, 1024, 1, x.data(), y.data()); });
    Bench("softmax log bwd 2048x1024", [&] { LogSoftmaxBackward<float>(2048, 1024, 1, x.data(), g.data(), y.data()); });
    Bench("softmax fwd 32x21x1024", [&] { SoftmaxForward<float>(32, 21, 1024, x.data(), y.data()); });
    Bench("sort rows 1x1000000", [&] { SortRows<float>(1, 1000000, x.data(), y.data()); });
    Bench("sort rows 1000x1000", [&] { SortRows<float>(1000, 1000, x.data(), y.data()); });
    Bench("sort argsort 1x1000000", [&] { ArgsortRows<float>(1, 1000000, x.data(), index.data()); });
    Bench("sort argsort 1000x1000", [&] { ArgsortRows<float>(1000, 1000, x.data(), index.data()); });
    GateLayout layout{2048, 1, {0, 512, 1024, 1536}};
    Bench("lstm cell fwd 20x512",
          [&] { LstmForward<float>(20, 512, layout, x.data(), g.data(), y.data(), y.data() + 20 * 512); });
}

void BenchConv() {
    struct Case {
        int64_t batch, in, out, size, kernel, stride;
    };
    for (Case c :
         {Case{8, 3, 64, 64, 3, 1}, Case{8, 64, 64, 64, 3, 1}, Case{8, 64, 128, 64, 3, 2}, Case{8, 64, 128, 64, 1, 2},
          Case{8, 128, 128, 32, 3, 1}, Case{8, 128, 256, 32, 3, 2}, Case{8, 256, 256, 16, 3, 1},
          Case{8, 512, 512, 8, 3, 1}, Case{32, 3, 32, 32, 3, 1}, Case{32, 32, 64, 32, 3, 1},
          Case{32, 64, 128, 32, 3, 1}, Case{1, 4, 8, 8, 3, 1}, Case{1, 8, 16, 8, 3, 1}}) {
        ConvShape s{};
        s.ndim = 2;
        s.batch = c.batch;
        s.groups = 1;
        s.in_channels = c.in;
        s.out_channels = c.out;
        for (int d = 0; d < 2; ++d) {
            s.in[d] = c.size;
            s.kernel[d] = c.kernel;
            s.stride[d] = c.stride;
            s.pad[d] = c.kernel / 2;
            s.dilation[d] = 1;
            s.out[d] = (c.size - 1) / c.stride + 1;
        }
        std::vector<float> x(c.batch * c.in * c.size * c.size, 0.5F);
        std::vector<float> w(c.out * c.in * c.kernel * c.kernel, 0.25F);
        std::vector<float> y(c.batch * c.out * s.out[0] * s.out[1], 0.1F);
        char shape[60];
        std::snprintf(shape, sizeof(shape), "%ldx%ldx%ldx%ld->%ld k%ld s%ld", static_cast<long>(c.batch),
                      static_cast<long>(c.in), static_cast<long>(c.size), static_cast<long>(c.size),
                      static_cast<long>(c.out), static_cast<long>(c.kernel), static_cast<long>(c.stride));
        char name[80];
        std::snprintf(name, sizeof(name), "conv fwd %s", shape);
        Bench(name, [&] { ConvForward<float>(s, x.data(), w.data(), nullptr, y.data()); });
        int64_t size;
        GetPackedSize<float>(s, &size);
        std::vector<float> packed(size);
        PackConvWeights<float>(s, w.data(), packed.data());
        std::snprintf(name, sizeof(name), "conv packed %s", shape);
        Bench(name,
              [&] { ConvForwardPacked<float>(s, x.data(), packed.data(), nullptr, nullptr, false, 0, y.data()); });
        std::snprintf(name, sizeof(name), "conv data %s", shape);
        Bench(name, [&] { ConvBackwardData<float>(s, y.data(), w.data(), nullptr, x.data()); });
        std::snprintf(name, sizeof(name), "conv weight %s", shape);
        Bench(name, [&] { ConvBackwardWeight<float>(s, x.data(), y.data(), w.data()); });
    }
}

}  // namespace
}  // namespace chainerx::native

int main(int argc, char** argv) {
    if (argc > 1) {
        chainerx::native::g_prefix = argv[1];
    }
    std::printf("threads %d, instruction set %d\n", chainerx::native::GetNumThreads(),
                static_cast<int>(chainerx::native::GetIsa()));
    chainerx::native::BenchAllocator();
    chainerx::native::BenchGemm();
    chainerx::native::BenchInt8();
    chainerx::native::BenchConv();
    chainerx::native::BenchMath();
    chainerx::native::BenchLayers();
    return 0;
}
