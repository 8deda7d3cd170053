// Attention on arrays.

#include "chainerx/ops/attention.h"

#include <optional>
#include <vector>

#include "chainerx/backends/native/kernels/attention.h"
#include "chainerx/backends/native/native_backend.h"
#include "chainerx/core/blocking.h"
#include "chainerx/core/operands.h"

namespace chainerx::native {
namespace {

// The number of products above which the interpreter lock is released.
constexpr int64_t kAttentionBlocking = 262144;

// Matrices of a dtype, copied only if their rows are not contiguous. All rows of a mask may share memory.
class Matrices {
public:
    Matrices(const Array& a, Dtype dtype, bool is_mask = false) : array_{a.dtype() == dtype ? a : Input(a, dtype)} {
        int n = array_.ndim();
        int64_t item = array_.GetItemSize();
        int64_t rows = array_.shape()[n - 2];
        int64_t columns = array_.shape()[n - 1];
        int64_t row = array_.strides()[n - 2];
        bool fits = (columns <= 1 || array_.strides()[n - 1] == item) && row % item == 0 &&
                    (rows <= 1 || row >= columns * item || (is_mask && row == 0));
        if (!fits) array_ = Contiguous(array_);
        row_ = array_.strides()[n - 2] / item;
        int64_t count = 1;
        for (int d = 0; d < n - 2; ++d) count *= array_.shape()[d];
        offsets_.resize(count);
        for (int64_t i = 0; i < count; ++i) {
            int64_t rest = i;
            for (int d = n - 3; d >= 0; --d) {
                offsets_[i] += rest % array_.shape()[d] * (array_.strides()[d] / item);
                rest /= array_.shape()[d];
            }
        }
    }
    template <class T>
    MatrixStack<const T> Get() const {
        return {array_.data<const T>(), offsets_.data(), row_};
    }

private:
    Array array_;
    int64_t row_;
    std::vector<int64_t> offsets_;
};

class Mask {
public:
    // The mask may be no array.
    Mask(const Array& mask, Dtype dtype) : is_bool_{mask && mask.dtype() == Dtype::kBool} {
        if (mask) matrices_.emplace(mask, is_bool_ ? Dtype::kBool : dtype, true);
    }
    template <class T>
    AttentionMask<T> Get() const {
        AttentionMask<T> out{};
        if (!matrices_.has_value()) return out;
        if (is_bool_) {
            out.allowed = matrices_->Get<bool>();
        } else {
            out.bias = matrices_->Get<T>();
        }
        return out;
    }

private:
    bool is_bool_;
    std::optional<Matrices> matrices_;
};

AttentionSizes GetSizes(const Array& q, const Array& v, const AttentionOptions& options) {
    int n = q.ndim();
    int64_t batch = 1;
    for (int d = 0; d < n - 2; ++d) batch *= q.shape()[d];
    return {batch,         q.shape()[n - 2], v.shape()[n - 2], q.shape()[n - 1], v.shape()[n - 1],
            options.scale, options.causal};
}

bool IsLong(const AttentionSizes& s) {
    return s.batch * s.queries * s.keys * (s.width + s.value_width) > kAttentionBlocking;
}

void Attention(const Array& q_, const Array& k_, const Array& v_, const Array& mask_, const AttentionOptions& options,
               const Array& out_, const Array& log_sum) {
    AttentionSizes sizes = GetSizes(q_, v_, options);
    Dtype dtype = log_sum.dtype();
    Matrices q{q_, dtype};
    Matrices k{k_, dtype};
    Matrices v{v_, dtype};
    Mask mask{mask_, dtype};
    Output out{out_, dtype};
    VisitComputeDtype(dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        BlockingScope blocking{IsLong(sizes)};
        AttentionForward<T>(sizes, q.Get<T>(), k.Get<T>(), v.Get<T>(), mask.Get<T>(), out.template data<T>(),
                            log_sum.data<T>());
    });
    out.Finish();
}

void AttentionGrad(const Array& q_, const Array& k_, const Array& v_, const Array& mask_,
                   const AttentionOptions& options, const Array& log_sum, const Array& gout_, const Array& gq_,
                   const Array& gk_, const Array& gv_) {
    AttentionSizes sizes = GetSizes(q_, v_, options);
    Dtype dtype = log_sum.dtype();
    Matrices q{q_, dtype};
    Matrices k{k_, dtype};
    Matrices v{v_, dtype};
    Matrices gout{gout_, dtype};
    Mask mask{mask_, dtype};
    Output gq{gq_, dtype};
    Output gk{gk_, dtype};
    Output gv{gv_, dtype};
    VisitComputeDtype(dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        BlockingScope blocking{IsLong(sizes)};
        AttentionBackward<T>(sizes, q.Get<T>(), k.Get<T>(), v.Get<T>(), mask.Get<T>(), log_sum.data<T>(), gout.Get<T>(),
                             gq.template data<T>(), gk.template data<T>(), gv.template data<T>());
    });
    gq.Finish();
    gk.Finish();
    gv.Finish();
}

}  // namespace

const NativeKernels g_attention_kernels{[](Backend& backend) {
    kAttentionKernel.Register(backend, &Attention);
    kAttentionGradKernel.Register(backend, &AttentionGrad);
}};

}  // namespace chainerx::native
