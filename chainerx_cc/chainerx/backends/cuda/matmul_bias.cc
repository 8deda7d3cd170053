// Products of matrices with a bias: cuBLASLt adds it to its results before it writes them.

#include <optional>
#include <tuple>
#include <vector>

#include "chainerx/backends/cuda/cublaslt.h"
#include "chainerx/backends/cuda/cuda_backend.h"
#include "chainerx/backends/cuda/matmul.h"
#include "chainerx/backends/cuda/trust.h"
#include "chainerx/core/dnn_settings.h"
#include "chainerx/core/operands.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/linalg.h"

namespace chainerx::cuda {
namespace {

// The reference, in two steps.
void AddProduct(const Array& a, const Array& b, const Array& bias, const Array& out) {
    CopyData(bias, out);
    Matmul(a, b, 1.0, out);
}

bool TryEpilogue(const BlasProduct& product, const Array& bias, const Array& out) {
    return TryWithBias(product.gemm, Contiguous(bias).raw_data(), out.device(), "linear");
}

// start, start + 1, ...: integers that all dtypes have.
Array Numbers(const Shape& shape, int start, Dtype dtype, Device& device) {
    Array out = Empty(Shape{shape.GetTotalSize()}, dtype, device);
    kArangeKernel(device, out, Scalar{start}, Scalar{1});
    Strides strides{shape, out.GetItemSize()};
    return internal::MakeView(out, shape, strides, out.offset());
}

std::vector<char> Read(const Array& a) {
    std::vector<char> bytes(a.GetNBytes());
    a.device().CopyToHost(bytes.data(), a.raw_data(), bytes.size());
    return bytes;
}

// What cuBLASLt makes of a product of small integers, whose results are exact.
Verdict CompareWithReference(Dtype dtype, Device& device) {
    Array a = Numbers({3, 4}, -5, dtype, device);
    Array b = Permuted(Numbers({5, 4}, -9, dtype, device), Axes{1, 0});
    Array bias = Numbers({5}, 1, dtype, device);
    Array expected = Empty({3, 5}, dtype, device);
    Array out = Empty({3, 5}, dtype, device);
    AddProduct(a, b, bias, expected);
    try {
        if (!TryEpilogue(*FindBlasProduct(a, b, out), bias, out)) return Verdict::kUnsupported;
        return Read(out) == Read(expected) ? Verdict::kSame : Verdict::kDifferent;
    } catch (const DeviceError&) {
        return Verdict::kDifferent;
    }
}

// Whether cuBLASLt has been seen to give what the reference gives.
bool IsTrusted(const BlasGemm& gemm, const Array& out) {
    using Key = std::tuple<int, BlasType, BlasCompute>;  // with the device
    static auto* trust = new Trust<Key>;
    auto compare = [&out] { return CompareWithReference(out.dtype(), out.device()); };
    auto warn = [&out] {
        if (g_warn_of_dnn == nullptr) return;
        g_warn_of_dnn(internal::Concat("cuBLASLt does not add a bias to products in ", GetDtypeName(out.dtype()),
                                       " as cuBLAS does; linear functions do it in two steps"));
    };
    return trust->Ask(Key{out.device().index(), gemm.type, gemm.compute}, out.device(), compare, warn);
}

void MatmulBias(const Array& a, const Array& b, const Array& bias, const Array& out) {
    std::optional<BlasProduct> product;
    if (HasBlasLt()) product = FindBlasProduct(a, b, out);
    if (!product.has_value()) {
        AddProduct(a, b, bias, out);
    } else if (!IsTrusted(product->gemm, out) || !TryEpilogue(*product, bias, out)) {
        AddProduct(product->a, product->b, bias, out);
    }
}

}  // namespace

const CudaKernels g_matmul_bias_kernels{[](Backend& backend) { kMatmulBiasKernel.Register(backend, &MatmulBias); }};

}  // namespace chainerx::cuda
