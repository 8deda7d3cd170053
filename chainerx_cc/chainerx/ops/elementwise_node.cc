#include <utility>

#include "chainerx/ops/elementwise_impl.h"

namespace chainerx::ops {

template <int N>
ElementwiseNodeOf<N>::~ElementwiseNodeOf() = default;

template <int N>
void ElementwiseNodeOf<N>::ReleaseSaved() noexcept {
    for (Saved& s : in_) s = Saved{};
    out_ = Saved{};
}

template <int N>
void ElementwiseNodeOf<N>::AddOperands(const Operand (&inputs)[N], GraphMask mask) {
    for (const Operand& x : inputs) {
        if (x.is_array()) {
            AddInput(x.array(), mask);
        } else {
            AddNoInput();
        }
    }
}

template <int N>
void ElementwiseNodeOf<N>::KeepInput(int i, const Operand& x, const Array& out) {
    if (in_[i]) return;
    in_[i] = Saved{x.is_array() ? x.array() : FilledArray({}, x.scalar(), out.dtype(), out.device())};
}

template <int N>
void ElementwiseNodeOf<N>::KeepOutput(const Array& out) {
    if (!out_) out_ = Saved{out.AsDetached()};
}

template <int N>
void ElementwiseNodeOf<N>::SetGrad(BackwardContext& ctx, int i, Array g) const {
    const Shape& shape = edges()[i].node->shape();
    ctx.SetGrad(i, CHAINERX_LIKELY(g.shape() == shape) ? std::move(g) : SumTo(g, shape));
}

template class ElementwiseNodeOf<1>;
template class ElementwiseNodeOf<2>;
template class ElementwiseNodeOf<3>;

}  // namespace chainerx::ops
