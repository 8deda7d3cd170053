// Sorts and the search of nonzero elements, by CUB's radix sort of unsigned keys.

#include <cstdint>
#include <cstring>
#include <cub/device/device_radix_sort.cuh>
#include <type_traits>

#include "chainerx/backends/cuda/launch.h"
#include "chainerx/backends/cuda/sort.h"
#include "chainerx/core/compute_type.h"
#include "chainerx/core/kernels.h"
#include "chainerx/core/operands.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/indexing.h"
#include "chainerx/ops/sorting.h"

namespace chainerx::cuda {
namespace {

template <class T>
using ComputeOf = typename ComputeType<T>::type;

template <class T>
constexpr bool kIsFloat = std::is_floating_point_v<ComputeOf<T>>;
template <class T>
constexpr int kKeyBits = 8 * static_cast<int>(kIsFloat<T> ? sizeof(ComputeOf<T>) : sizeof(T));

// An unsigned number of kKeyBits bits, in the order of the values; equal values have equal keys.
template <class T>
__device__ uint64_t MakeKey(T value) {
    constexpr uint64_t kAll = ~uint64_t{0} >> (64 - kKeyBits<T>);
    constexpr uint64_t kSign = uint64_t{1} << (kKeyBits<T> - 1);
    if constexpr (kIsFloat<T>) {
        using C = ComputeOf<T>;
        C number = static_cast<C>(value);
        if (number != number) return kAll;  // not-a-number is last
        if (number == 0) return kSign;      // so is -0
        std::conditional_t<sizeof(C) == 4, uint32_t, uint64_t> bits;
        std::memcpy(&bits, &number, sizeof(bits));
        return (bits & kSign) != 0 ? kAll & ~uint64_t{bits} : bits | kSign;
    } else if constexpr (std::is_signed_v<T>) {
        return (static_cast<uint64_t>(value) + kSign) & kAll;
    } else {
        return value;
    }
}

template <class T>
__global__ void MakeKeys(int64_t n, const T* x, uint64_t* keys) {
    int64_t i = ThreadIndex();
    if (i < n) keys[i] = MakeKey(x[i]);
}

__global__ void FindRows(int64_t n, int64_t length, const int64_t* positions, uint64_t* rows) {
    int64_t i = ThreadIndex();
    if (i < n) rows[i] = positions[i] / length;
}

__global__ void FindColumns(int64_t n, int64_t length, const int64_t* positions, int64_t* columns) {
    int64_t i = ThreadIndex();
    if (i < n) columns[i] = positions[i] % length;
}

template <class T>
__global__ void Gather(int64_t n, const T* x, const int64_t* positions, T* out) {
    int64_t i = ThreadIndex();
    if (i < n) out[i] = x[positions[i]];
}

Array MakePositions(int64_t n, Device& device) {
    Array positions = Empty(Shape{n}, Dtype::kInt64, device);
    kArangeKernel(device, positions, Scalar{int64_t{0}}, Scalar{int64_t{1}});
    return positions;
}

// Where the elements of the sorted rows are in the array, which is not empty: sorted by values, and then by rows.
Array SortPositions(const char* what, const Array& x) {
    Device& device = x.device();
    int64_t n = x.GetTotalSize();
    int64_t length = x.shape().back();
    Array keys = Empty(Shape{n}, Dtype::kInt64, device);
    Array positions = VisitDtype(x.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        Launch(what, device, BlocksFor(n), kBlock, &MakeKeys<T>, n, x.data<T>(), keys.data<uint64_t>());
        return SortedPairs{keys, MakePositions(n, device), kKeyBits<T>}.values;
    });
    if (n == length) return positions;
    Launch(what, device, BlocksFor(n), kBlock, &FindRows, n, length, positions.data<int64_t>(), keys.data<uint64_t>());
    return SortedPairs{keys, positions, CountBits(n / length - 1)}.values;
}

void Sort(const Array& x, const Array& out) {
    int64_t n = x.GetTotalSize();
    if (n == 0) return;
    Array positions = SortPositions("sort", x);
    VisitDtype(x.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        Launch("sort", out.device(), BlocksFor(n), kBlock, &Gather<T>, n, x.data<T>(), positions.data<int64_t>(),
               out.data<T>());
    });
}

void Argsort(const Array& x, const Array& out) {
    int64_t n = x.GetTotalSize();
    if (n == 0) return;
    Array positions = SortPositions("argsort", x);
    Launch("argsort", out.device(), BlocksFor(n), kBlock, &FindColumns, n, x.shape().back(), positions.data<int64_t>(),
           out.data<int64_t>());
}

template <class T>
__global__ void FindZeros(int64_t n, const T* x, uint64_t* is_zero) {
    int64_t i = ThreadIndex();
    if (i < n) is_zero[i] = static_cast<ComputeOf<T>>(x[i]) == 0 ? 1 : 0;
}

// The number of zeros in a sorted array, to memory that is zero.
__global__ void CountLeadingZeros(int64_t n, const uint64_t* sorted, int64_t* count) {
    int64_t i = ThreadIndex();
    if (i < n && sorted[i] == 0 && (i + 1 == n || sorted[i + 1] != 0)) *count = i + 1;
}

struct Lengths {
    int ndim;
    int64_t of[kMaxNdim];
};

__global__ void FindIndices(int64_t n, Lengths lengths, const int64_t* positions, int64_t* indices) {
    int64_t i = ThreadIndex();
    if (i >= n) return;
    int64_t rest = positions[i];
    for (int d = lengths.ndim - 1; d >= 0; --d) {
        indices[i * lengths.ndim + d] = rest % lengths.of[d];
        rest /= lengths.of[d];
    }
}

// A sort by one bit, whether an element is zero, brings the others to the front in their order.
Array Nonzero(const Array& a_) {
    Array a = Contiguous(a_);
    Device& device = a.device();
    int64_t n = a.GetTotalSize();
    int64_t count = 0;
    Array positions;
    if (n != 0) {
        Array keys = Empty(Shape{n}, Dtype::kInt64, device);
        VisitDtype(a.dtype(), [&](auto tag) {
            using T = typename decltype(tag)::type;
            Launch("nonzero", device, BlocksFor(n), kBlock, &FindZeros<T>, n, a.data<T>(), keys.data<uint64_t>());
        });
        SortedPairs sorted{keys, MakePositions(n, device), 1};
        Array count_on_device = Empty(Shape{1}, Dtype::kInt64, device);
        kFillKernel(device, count_on_device, Scalar{int64_t{0}});
        Launch("nonzero", device, BlocksFor(n), kBlock, &CountLeadingZeros, n, sorted.keys.data<uint64_t>(),
               count_on_device.data<int64_t>());
        device.CopyToHost(&count, count_on_device.raw_data(), sizeof(count));
        positions = sorted.values;
    }
    Array out = Empty(Shape{count, a.ndim()}, Dtype::kInt64, device);
    if (out.GetTotalSize() == 0) return out;
    Lengths lengths{a.ndim(), {}};
    for (int d = 0; d < a.ndim(); ++d) lengths.of[d] = a.shape()[d];
    Launch("nonzero", device, BlocksFor(count), kBlock, &FindIndices, count, lengths, positions.data<int64_t>(),
           out.data<int64_t>());
    return out;
}

}  // namespace

SortedPairs::SortedPairs(const Array& keys_, const Array& values_, int bits)
    : keys{Empty(keys_.shape(), Dtype::kInt64, keys_.device())},
      values{Empty(keys_.shape(), Dtype::kInt64, keys_.device())} {
    Device& device = keys_.device();
    CurrentDevice current{device};
    size_t bytes = 0;
    auto sort = [&](void* work) {
        Check(cub::DeviceRadixSort::SortPairs(work, bytes, keys_.data<uint64_t>(), keys.data<uint64_t>(),
                                              values_.data<int64_t>(), values.data<int64_t>(), keys_.GetTotalSize(), 0,
                                              bits, current.stream()),
              "a sort");
    };
    sort(nullptr);
    sort(Empty(Shape{static_cast<int64_t>(bytes)}, Dtype::kUInt8, device).raw_data());
}

const CudaKernels g_sort_kernels{[](Backend& backend) {
    kSortKernel.Register(backend, &Sort);
    kArgsortKernel.Register(backend, &Argsort);
    kNonzeroKernel.Register(backend, &Nonzero);
}};

}  // namespace chainerx::cuda
