// Filling, copying and converting.

#include <cstring>

#include "chainerx/backends/cuda/launch.h"
#include "chainerx/backends/cuda/layout.h"
#include "chainerx/backends/cuda/load_as.h"
#include "chainerx/core/convert.h"
#include "chainerx/core/kernels.h"
#include "chainerx/ops/creation.h"

namespace chainerx::cuda {
namespace {

template <class To>
__global__ void ConvertKernel(uint32_t n, Layout<2> layout, char* out, Dtype from, const char* in) {
    auto i = static_cast<uint32_t>(ThreadIndex());
    if (i >= n) return;
    int64_t offsets[2];
    layout.GetOffsets(i, offsets);
    *reinterpret_cast<To*>(out + offsets[0]) = LoadAs<To>(from, in + offsets[1]);
}

void Copy(const Array& src, const Array& dst) {
    int64_t size = dst.GetTotalSize();
    if (size == 0) return;
    if (src.dtype() == dst.dtype() && src.IsContiguous() && dst.IsContiguous() && src.shape() == dst.shape()) {
        if (src.raw_data() == dst.raw_data()) return;
        CurrentDevice current{dst.device()};
        Check(cudaMemcpyAsync(dst.raw_data(), src.raw_data(), size * dst.GetItemSize(), cudaMemcpyDeviceToDevice,
                              current.stream()),
              "copy");
        return;
    }
    Strides strides[] = {dst.strides(), BroadcastStrides(src.shape(), src.strides(), dst.shape())};
    char* data[] = {dst.raw_data(), src.raw_data()};
    ForParts(LoopNest{dst.shape(), 2, strides}, data, [&](const LoopNest& nest, char* const* p) {
        VisitDtype(dst.dtype(), [&](auto tag) {
            using T = typename decltype(tag)::type;
            Launch("copy", dst.device(), BlocksFor(nest.size), kBlock, &ConvertKernel<T>,
                   static_cast<uint32_t>(nest.size), Layout<2>{nest}, p[0], src.dtype(), p[1]);
        });
    });
}

template <class T>
__global__ void FillKernelOf(uint32_t n, Layout<1> layout, char* out, T value) {
    auto i = static_cast<uint32_t>(ThreadIndex());
    if (i >= n) return;
    int64_t offset;
    layout.GetOffsets(i, &offset);
    *reinterpret_cast<T*>(out + offset) = value;
}

void Fill(const Array& out, const Scalar& value) {
    if (out.GetTotalSize() == 0) return;
    char* data[] = {out.raw_data()};
    ForParts(LoopNest{out.shape(), 1, &out.strides()}, data, [&](const LoopNest& nest, char* const* p) {
        VisitDtype(out.dtype(), [&](auto tag) {
            using T = typename decltype(tag)::type;
            Launch("fill", out.device(), BlocksFor(nest.size), kBlock, &FillKernelOf<T>,
                   static_cast<uint32_t>(nest.size), Layout<1>{nest}, p[0], value.To<T>());
        });
    });
}

// N: int64 or double
template <class T, class N>
__global__ void ArangeKernelOf(int64_t n, T* out, N start, N step) {
    int64_t i = ThreadIndex();
    if (i < n) out[i] = Convert<N, T>(start + static_cast<N>(i) * step);
}

void Arange(const Array& out, const Scalar& start, const Scalar& step) {
    int64_t n = out.GetTotalSize();
    if (n == 0) return;
    bool is_float = start.kind() == DtypeKind::kFloat || step.kind() == DtypeKind::kFloat;
    VisitDtype(out.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        if (is_float) {
            Launch("arange", out.device(), BlocksFor(n), kBlock, &ArangeKernelOf<T, double>, n, out.data<T>(),
                   static_cast<double>(start), static_cast<double>(step));
        } else {
            Launch("arange", out.device(), BlocksFor(n), kBlock, &ArangeKernelOf<T, int64_t>, n, out.data<T>(),
                   static_cast<int64_t>(start), static_cast<int64_t>(step));
        }
    });
}

}  // namespace

const CudaKernels g_copy_kernels{[](Backend& backend) {
    kCopyKernel.Register(backend, &Copy);
    kFillKernel.Register(backend, &Fill);
    kArangeKernel.Register(backend, &Arange);
}};

}  // namespace chainerx::cuda
