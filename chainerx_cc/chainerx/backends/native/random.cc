// Random numbers in arrays.

#include "chainerx/ops/random.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "chainerx/backends/native/kernels/random.h"
#include "chainerx/backends/native/native_backend.h"
#include "chainerx/core/blocking.h"
#include "chainerx/core/operands.h"

namespace chainerx::native {
namespace {

static_assert(RandomGenerator::kAlignment % kRandomChunk == 0);

// The number of elements above which the interpreter lock is released.
constexpr int64_t kRandomBlocking = 16384;

// `make(number of elements, pointer to float or double)` fills the array.
template <class F>
void Generate(const Array& out_, F&& make) {
    Dtype dtype = GetComputeDtype(out_.dtype());
    Output out{out_, dtype};
    VisitComputeDtype(dtype, [&](auto tag) {
        BlockingScope blocking{out_.GetTotalSize() > kRandomBlocking};
        make(out_.GetTotalSize(), out.template data<typename decltype(tag)::type>());
    });
    out.Finish();
}

void Uniform(const RandomStream& stream, double shift, double factor, const Array& out) {
    Generate(out, [&](int64_t n, auto* p) {
        using T = std::remove_pointer_t<decltype(p)>;
        RandomUniform<T>(n, stream.key, stream.position, static_cast<T>(shift), static_cast<T>(factor), p);
    });
}

void Normal(const RandomStream& stream, double shift, double factor, const Array& out) {
    Generate(out, [&](int64_t n, auto* p) {
        using T = std::remove_pointer_t<decltype(p)>;
        RandomNormal<T>(n, stream.key, stream.position, static_cast<T>(shift), static_cast<T>(factor), p);
    });
}

void Integers(const RandomStream& stream, int64_t low, int64_t high, const Array& out) {
    BlockingScope blocking{out.GetTotalSize() > kRandomBlocking};
    RandomIntegers<int64_t>(out.GetTotalSize(), stream.key, stream.position, low,
                            static_cast<uint64_t>(high) - static_cast<uint64_t>(low), out.data<int64_t>());
}

void Dropout(const RandomStream& stream, double ratio, const Array& x_, const Array& y_) {
    auto threshold = static_cast<uint32_t>(std::min(std::round(ratio * 0x1p32), 0x1p32 - 1));
    Dtype dtype = GetComputeDtype(x_.dtype());
    Array x = Input(x_, dtype);
    Output y{y_, dtype};
    VisitComputeDtype(dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        BlockingScope blocking{x.GetTotalSize() > kRandomBlocking};
        RandomDropout<T>(x.GetTotalSize(), stream.key, stream.position, threshold, static_cast<T>(1 / (1 - ratio)),
                         x.data<T>(), y.template data<T>());
    });
    y.Finish();
}

}  // namespace

const NativeKernels g_random_kernels{[](Backend& backend) {
    kRandomUniformKernel.Register(backend, &Uniform);
    kRandomNormalKernel.Register(backend, &Normal);
    kRandomIntegersKernel.Register(backend, &Integers);
    kDropoutKernel.Register(backend, &Dropout);
}};

}  // namespace chainerx::native
