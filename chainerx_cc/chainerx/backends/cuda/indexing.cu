// Gathering, scattering and searching.

#include <cstdint>
#include <type_traits>

#include "chainerx/backends/cuda/launch.h"
#include "chainerx/backends/cuda/report_fault.h"
#include "chainerx/backends/cuda/sort.h"
#include "chainerx/core/compute_type.h"
#include "chainerx/core/kernels.h"
#include "chainerx/core/operands.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/indexing.h"
#include "chainerx/ops/reduction.h"

namespace chainerx::cuda {
namespace {

// An index out of bounds, which is reported. Taking reads another element, and scattering skips it.
constexpr int64_t kInvalid = -1;

template <class T>
__global__ void TakeElements(int64_t n, int64_t n_indices, TakeGeometry g, const T* a, const int64_t* indices, T* out) {
    int64_t i = ThreadIndex();
    if (i >= n) return;
    int64_t column = i % g.inner;
    int64_t row = i / g.inner;
    int64_t index = indices[row % n_indices];
    out[i] = a[(row / n_indices * g.length + (index == kInvalid ? 0 : index)) * g.inner + column];
}

void Take(const Array& a, const Array& indices, const TakeGeometry& g, const Array& out) {
    int64_t n = out.GetTotalSize();
    if (n == 0) return;
    VisitDtype(a.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        Launch("take", out.device(), BlocksFor(n), kBlock, &TakeElements<T>, n, indices.GetTotalSize(), g, a.data<T>(),
               indices.data<int64_t>(), out.data<T>());
    });
}

struct Store {
    template <class T>
    __device__ static void Apply(T* to, T value) {
        *to = value;
    }
};
struct AddTo {
    template <class T>
    __device__ static void Apply(T* to, T value) {
        using C = typename ComputeType<T>::type;
        *to = static_cast<T>(static_cast<C>(*to) + static_cast<C>(value));
    }
};

// Scattering goes through the indices in order: repeated ones give the same result each time, and for AddTo the one of
// the native backend. Here by one thread for each column of the destination.
template <class F, class T>
__global__ void ScatterInOrder(int64_t n_indices, TakeGeometry g, T* out, const int64_t* indices, const T* b) {
    int64_t i = ThreadIndex();
    if (i >= g.outer * g.inner) return;
    int64_t outer = i / g.inner;
    int64_t column = i % g.inner;
    for (int64_t k = 0; k < n_indices; ++k) {
        if (indices[k] == kInvalid) continue;
        F::Apply(out + (outer * g.length + indices[k]) * g.inner + column,
                 b[(outer * n_indices + k) * g.inner + column]);
    }
}

// A thread for each column and each distinct index.
template <class F, class T>
__global__ void ScatterSorted(int64_t size, int64_t n_indices, TakeGeometry g, T* out, const int64_t* indices,
                              const int64_t* positions, const T* b) {
    int64_t i = ThreadIndex();
    if (i >= size) return;
    int64_t column = i % g.inner;
    int64_t k = i / g.inner % n_indices;
    int64_t outer = i / g.inner / n_indices;
    int64_t index = indices[k];
    if (index == kInvalid || (k > 0 && indices[k - 1] == index)) return;
    T* to = out + (outer * g.length + index) * g.inner + column;
    for (; k < n_indices && indices[k] == index; ++k) {
        F::Apply(to, b[(outer * n_indices + positions[k]) * g.inner + column]);
    }
}

// Columns that keep a GPU busy, and indices that are not worth a sort.
constexpr int64_t kManyColumns = 1 << 16;
constexpr int64_t kFewIndices = 16;

template <class F>
void Scatter(const char* what, const Array& out, const Array& indices, const TakeGeometry& g, const Array& b) {
    int64_t n_indices = indices.GetTotalSize();
    int64_t columns = g.outer * g.inner;
    if (n_indices * columns == 0) return;
    if (columns >= kManyColumns || n_indices <= kFewIndices) {
        VisitDtype(out.dtype(), [&](auto tag) {
            using T = typename decltype(tag)::type;
            Launch(what, out.device(), BlocksFor(columns), kBlock, &ScatterInOrder<F, T>, n_indices, g, out.data<T>(),
                   indices.data<int64_t>(), b.data<T>());
        });
        return;
    }
    Array order = Empty(indices.shape(), Dtype::kInt64, indices.device());
    kArangeKernel(order.device(), order, Scalar{int64_t{0}}, Scalar{int64_t{1}});
    // As many bits as make kInvalid greater than all others.
    SortedPairs sorted{indices, order, CountBits(g.length)};
    VisitDtype(out.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        Launch(what, out.device(), BlocksFor(n_indices * columns), kBlock, &ScatterSorted<F, T>, n_indices * columns,
               n_indices, g, out.data<T>(), sorted.keys.data<int64_t>(), sorted.values.data<int64_t>(), b.data<T>());
    });
}

__global__ void NormalizeEach(int64_t n, const int64_t* in, int64_t length, IndexMode mode, int64_t* out,
                              Fault* fault) {
    int64_t k = ThreadIndex();
    if (k >= n) return;
    int64_t i = in[k];
    if (mode == IndexMode::kClip && length > 0) {
        i = i < 0 ? 0 : i < length ? i : length - 1;
    } else if (mode == IndexMode::kWrap && length > 0) {
        i = (i % length + length) % length;
    } else if (i < -length || i >= length) {
        ReportFault(fault, FaultKind::kIndex, i, length);
        i = kInvalid;
    } else if (i < 0) {
        i += length;
    }
    out[k] = i;
}

void NormalizeIndices(const Array& indices, int64_t length, IndexMode mode, const Array& out) {
    int64_t n = indices.GetTotalSize();
    if (n == 0) return;
    Launch("indexing", out.device(), BlocksFor(n), kBlock, &NormalizeEach, n, indices.data<int64_t>(), length, mode,
           out.data<int64_t>(), GetCudaDevice(out.device()).fault());
    // There is no other element to read.
    if (length == 0) out.device().Synchronize();
}

}  // namespace

const CudaKernels g_indexing_kernels{[](Backend& backend) {
    kTakeKernel.Register(backend, &Take);
    kAddAtKernel.Register(backend, [](const Array& out, const Array& indices, const TakeGeometry& g, const Array& b) {
        Scatter<AddTo>("add_at", out, indices, g, b);
    });
    kPutKernel.Register(backend, [](const Array& out, const Array& indices, const TakeGeometry& g, const Array& b) {
        Scatter<Store>("put", out, indices, g, b);
    });
    kNormalizeIndicesKernel.Register(backend, &NormalizeIndices);
}};

}  // namespace chainerx::cuda
