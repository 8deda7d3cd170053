// Kernels that run on the host: on copies, by the kernels of the native backend. For large factorizations without
// cuSOLVER.

#include <utility>
#include <vector>

#include "chainerx/backends/cuda/cuda_backend.h"
#include "chainerx/backends/cuda/factorization.h"
#include "chainerx/core/context.h"
#include "chainerx/core/operands.h"

namespace chainerx::cuda {
namespace {

Device& GetHost(const Array& a) { return a.context().GetDevice("native:0"); }

Array ToHost(const Array& a_) {
    if (!a_) return a_;
    Array a = Contiguous(a_);
    Array out = Empty(a.shape(), a.dtype(), GetHost(a));
    a.device().CopyToHost(out.raw_data(), a.raw_data(), a.GetNBytes());
    return out;
}

// Results on the host, which go to their arrays on the device at the end. Arrays that are none stay none.
class HostResults {
public:
    Array For(const Array& a) {
        if (!a) return a;
        arrays_.emplace_back(a, Empty(a.shape(), a.dtype(), GetHost(a)));
        return arrays_.back().second;
    }
    void Finish() const {
        for (const auto& [device, host] : arrays_) {
            device.device().CopyFromHost(device.raw_data(), host.raw_data(), host.GetNBytes());
        }
    }

private:
    std::vector<std::pair<Array, Array>> arrays_;  // contiguous
};

template <const auto& slot>
void Unary(const Array& a, const Array& out) {
    HostResults results;
    slot(GetHost(a), ToHost(a), results.For(out));
    results.Finish();
}

}  // namespace

namespace host {

void Solve(const Array& a, const Array& b, const Array& x) {
    HostResults results;
    kSolveKernel(GetHost(a), ToHost(a), ToHost(b), results.For(x));
    results.Finish();
}

void Inverse(const Array& a, const Array& out) { Unary<kInverseKernel>(a, out); }

void Slogdet(const Array& a, const Array& sign, const Array& logdet) {
    HostResults results;
    kSlogdetKernel(GetHost(a), ToHost(a), results.For(sign), results.For(logdet));
    results.Finish();
}

void Svd(const Array& a, const Array& u, const Array& s, const Array& vt) {
    HostResults results;
    kSvdKernel(GetHost(a), ToHost(a), results.For(u), results.For(s), results.For(vt));
    results.Finish();
}

void Qr(const Array& a, const QrOutput& out) {
    HostResults results;
    kQrKernel(GetHost(a), ToHost(a),
              QrOutput{results.For(out.q), results.For(out.r), results.For(out.reflectors), results.For(out.factors)});
    results.Finish();
}

void Cholesky(const Array& a, const Array& out) { Unary<kCholeskyKernel>(a, out); }

void Eigh(const Array& a, Triangle triangle, const Array& w, const Array& v) {
    HostResults results;
    kEighKernel(GetHost(a), ToHost(a), triangle, results.For(w), results.For(v));
    results.Finish();
}

}  // namespace host

}  // namespace chainerx::cuda
