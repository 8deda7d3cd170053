// Random numbers in arrays: the numbers of the native backend, in the same order.

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "chainerx/backends/cuda/launch.h"
#include "chainerx/core/compute_type.h"
#include "chainerx/core/convert.h"
#include "chainerx/core/operands.h"
#include "chainerx/ops/random.h"

namespace chainerx::cuda {
namespace {

// Counters of a group: the values of a group are in the order (word, counter).
constexpr int64_t kChunk = 64;
static_assert(RandomGenerator::kAlignment % kChunk == 0);

struct Words {
    uint32_t w[4];
};

// Philox4x32-10 (J. Salmon et al.: Parallel random numbers: as easy as 1, 2, 3, 2011).
__device__ Words Philox(RandomStream stream, int64_t counter) {
    uint64_t position = stream.position + static_cast<uint64_t>(counter);
    uint32_t c0 = static_cast<uint32_t>(position);
    uint32_t c1 = static_cast<uint32_t>(position >> 32);
    uint32_t c2 = 0;
    uint32_t c3 = 0;
    uint32_t k0 = static_cast<uint32_t>(stream.key);
    uint32_t k1 = static_cast<uint32_t>(stream.key >> 32);
    for (int round = 0; round < 10; ++round) {
        uint64_t p0 = uint64_t{0xD2511F53} * c0;
        uint64_t p1 = uint64_t{0xCD9E8D57} * c2;
        c0 = static_cast<uint32_t>(p1 >> 32) ^ c1 ^ k0;
        c1 = static_cast<uint32_t>(p1);
        c2 = static_cast<uint32_t>(p0 >> 32) ^ c3 ^ k1;
        c3 = static_cast<uint32_t>(p0);
        k0 += 0x9E3779B9U;
        k1 += 0xBB67AE85U;
    }
    return {{c0, c1, c2, c3}};
}

__device__ double Uniform53(uint32_t a, uint32_t b) {
    return (static_cast<double>(a >> 5) * 67108864.0 + static_cast<double>(b >> 6)) * 0x1p-53;
}

template <class C>
struct Affine {
    C shift;
    C factor;
};

struct MakeUniform {
    __device__ static void Make(const Words& words, Affine<float> f, float* out) {
        for (int i = 0; i < 4; ++i) out[i] = f.shift + f.factor * (static_cast<float>(words.w[i] >> 8) * 0x1p-24F);
    }
    __device__ static void Make(const Words& words, Affine<double> f, double* out) {
        for (int i = 0; i < 2; ++i) out[i] = f.shift + f.factor * Uniform53(words.w[2 * i], words.w[2 * i + 1]);
    }
};

// Box and Muller: pairs from a radius and an angle, as a part of a half turn: it needs no reduction of large angles,
// for which the GPU would take local memory.
struct MakeNormal {
    __device__ static void Make(const Words& words, Affine<float> f, float* out) {
        for (int i = 0; i < 2; ++i) {
            float u = (static_cast<float>(words.w[2 * i]) + 0.5F) * 0x1p-32F;
            float turn = static_cast<float>(static_cast<int32_t>(words.w[2 * i + 1])) * 0x1p-31F;
            float radius = f.factor * ::sqrtf(-2.0F * ::logf(u));
            float sine;
            float cosine;
            ::sincospif(turn, &sine, &cosine);
            out[2 * i] = f.shift + radius * cosine;
            out[2 * i + 1] = f.shift + radius * sine;
        }
    }
    __device__ static void Make(const Words& words, Affine<double> f, double* out) {
        double u = Uniform53(words.w[0], words.w[1]) + 0x1p-54;
        double turn = (Uniform53(words.w[2], words.w[3]) - 0.5) * 2;
        double radius = f.factor * ::sqrt(-2.0 * ::log(u));
        double sine;
        double cosine;
        ::sincospi(turn, &sine, &cosine);
        out[0] = f.shift + radius * cosine;
        out[1] = f.shift + radius * sine;
    }
};

// Each thread makes the values of one counter.
template <class F, class T, class C>
__global__ void Generate(int64_t n, RandomStream stream, Affine<C> affine, T* out) {
    constexpr int kValues = 16 / sizeof(C);
    int64_t counter = ThreadIndex();
    int64_t first = counter / kChunk * kChunk * kValues + counter % kChunk;
    if (first >= n) return;
    C values[kValues];
    F::Make(Philox(stream, counter), affine, values);
    for (int i = 0; i < kValues; ++i) {
        int64_t k = first + i * kChunk;
        if (k < n) out[k] = Convert<C, T>(values[i]);
    }
}

int64_t CountersFor(int64_t n, int64_t values) { return (n + kChunk * values - 1) / (kChunk * values) * kChunk; }

template <class F>
void RandomFloats(const char* what, const RandomStream& stream, double shift, double factor, const Array& out) {
    int64_t n = out.GetTotalSize();
    if (n == 0) return;
    VisitFloatDtype(out.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        using C = typename ComputeType<T>::type;
        Launch(what, out.device(), BlocksFor(CountersFor(n, 16 / sizeof(C))), kBlock, &Generate<F, T, C>, n, stream,
               Affine<C>{static_cast<C>(shift), static_cast<C>(factor)}, out.data<T>());
    });
}

__global__ void GenerateIntegers(int64_t n, RandomStream stream, int64_t low, uint64_t range, int64_t* out) {
    int64_t counter = ThreadIndex();
    if (range >> 32 == 0) {
        int64_t first = counter / kChunk * kChunk * 2 + counter % kChunk;
        if (first >= n) return;
        Words words = Philox(stream, counter);
        for (int i = 0; i < 2; ++i) {
            int64_t k = first + i * kChunk;
            if (k >= n) return;
            uint64_t product = words.w[2 * i] * range + (words.w[2 * i + 1] * range >> 32);
            out[k] = low + static_cast<int64_t>(product >> 32);
        }
        return;
    }
    if (counter >= n) return;
    Words words = Philox(stream, counter);
    // The high word of the product of the range with 128 random bits.
    uint64_t a = static_cast<uint64_t>(words.w[0]) << 32 | words.w[1];
    uint64_t b = static_cast<uint64_t>(words.w[2]) << 32 | words.w[3];
    using Wide = unsigned __int128;
    Wide product = static_cast<Wide>(a) * range + (static_cast<Wide>(b) * range >> 64);
    out[counter] = static_cast<int64_t>(static_cast<uint64_t>(low) + static_cast<uint64_t>(product >> 64));
}

void Integers(const RandomStream& stream, int64_t low, int64_t high, const Array& out) {
    int64_t n = out.GetTotalSize();
    if (n == 0) return;
    uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
    Launch("random_integers", out.device(), BlocksFor(CountersFor(n, range >> 32 == 0 ? 2 : 1)), kBlock,
           &GenerateIntegers, n, stream, low, range, out.data<int64_t>());
}

template <class T, class C>
__global__ void DropoutElements(int64_t n, RandomStream stream, uint32_t threshold, C scale, const T* x, T* y) {
    int64_t counter = ThreadIndex();
    int64_t first = counter / kChunk * kChunk * 4 + counter % kChunk;
    if (first >= n) return;
    Words words = Philox(stream, counter);
    for (int i = 0; i < 4; ++i) {
        int64_t k = first + i * kChunk;
        if (k < n) y[k] = words.w[i] < threshold ? Convert<C, T>(C{0}) : Convert<C, T>(static_cast<C>(x[k]) * scale);
    }
}

void Dropout(const RandomStream& stream, double ratio, const Array& x, const Array& y) {
    int64_t n = x.GetTotalSize();
    if (n == 0) return;
    auto threshold = static_cast<uint32_t>(std::min(std::round(ratio * 0x1p32), 0x1p32 - 1));
    VisitFloatDtype(x.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        using C = typename ComputeType<T>::type;
        Launch("dropout", x.device(), BlocksFor(CountersFor(n, 4)), kBlock, &DropoutElements<T, C>, n, stream,
               threshold, static_cast<C>(1 / (1 - ratio)), x.data<T>(), y.data<T>());
    });
}

}  // namespace

const CudaKernels g_random_kernels{[](Backend& backend) {
    kRandomUniformKernel.Register(backend, [](const RandomStream& s, double shift, double factor, const Array& out) {
        RandomFloats<MakeUniform>("random_uniform", s, shift, factor, out);
    });
    kRandomNormalKernel.Register(backend, [](const RandomStream& s, double shift, double factor, const Array& out) {
        RandomFloats<MakeNormal>("random_normal", s, shift, factor, out);
    });
    kRandomIntegersKernel.Register(backend, &Integers);
    kDropoutKernel.Register(backend, &Dropout);
}};

}  // namespace chainerx::cuda
