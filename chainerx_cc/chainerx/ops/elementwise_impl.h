#pragma once

// Definitions behind elementwise.h; included where a family's ops are instantiated.

#include <utility>

#include "chainerx/autograd/graph.h"
#include "chainerx/ops/complex.h"
#include "chainerx/ops/elementwise.h"
#include "chainerx/ops/manipulation.h"

namespace chainerx::ops {

// Finds out what a gradient function reads.
template <class Tag>
struct TagTraits;
template <int I>
struct TagTraits<In<I>> {
    static constexpr int kInput = I;
};
template <>
struct TagTraits<Out> {
    static constexpr int kInput = -1;
};

template <class Op>
inline constexpr bool kHasGrad = GradOf<Op, 0>::kExists || GradOf<Op, 1>::kExists || GradOf<Op, 2>::kExists;

// What the nodes of all ops with N inputs have in common.
template <int N>
class ElementwiseNodeOf : public OpNode {
public:
    using OpNode::OpNode;
    ~ElementwiseNodeOf() override;

    void ReleaseSaved() noexcept override;

protected:
    void AddOperands(const Operand (&inputs)[N], GraphMask mask);  // without gradients for numbers
    // Keeps an input or the output, unless it is kept already. Numbers become arrays.
    void KeepInput(int i, const Operand& x, const Array& out);
    void KeepOutput(const Array& out);
    const Array& GetInput(int i) const { return in_[i].Get(); }
    Array GetOutput(BackwardContext& ctx) const { return ctx.RetainedOutput(out_, 0); }
    // Passes on the gradient for an input, summed up where the input was broadcast.
    void SetGrad(BackwardContext& ctx, int i, Array g) const;

private:
    Saved in_[N];
    Saved out_;
};
extern template class ElementwiseNodeOf<1>;
extern template class ElementwiseNodeOf<2>;
extern template class ElementwiseNodeOf<3>;

// Passes gradients on by the functions of the op, gy f'(x). Of complex numbers, where f is holomorphic, the gradient is
// gy conj(f'(x)), see complex.h: the conjugate of what the function makes of conj(gy). Functions that read nothing but
// gy multiply it by a real number.
template <class Op>
class ElementwiseNode final : public ElementwiseNodeOf<Op::kArity> {
    using Base = ElementwiseNodeOf<Op::kArity>;

public:
    ElementwiseNode(const Op& op, GraphMask mask) : Base{Op::kName, mask}, op_{op} {}

    void Record(const Operand (&inputs)[Op::kArity], const Array& out, GraphMask mask) {
        Base::AddOperands(inputs, mask);
        KeepFor<0>(inputs, out);
        if constexpr (Op::kArity > 1) KeepFor<1>(inputs, out);
        if constexpr (Op::kArity > 2) KeepFor<2>(inputs, out);
        Base::AddOutput(out);
    }

    void Backward(BackwardContext& ctx) override {
        Compute<0>(ctx);
        if constexpr (Op::kArity > 1) Compute<1>(ctx);
        if constexpr (Op::kArity > 2) Compute<2>(ctx);
    }

private:
    template <int I>
    void KeepFor(const Operand (&inputs)[Op::kArity], const Array& out) {
        if constexpr (GradOf<Op, I>::kExists) {
            if (Base::edges()[I].mask != 0) Keep(GradOf<Op, I>::kFunction, inputs, out);
        }
    }

    template <class... Tags>
    void Keep(Array (Op::*)(const Array&, Tags...) const, const Operand (&inputs)[Op::kArity], const Array& out) {
        (KeepOne<Tags>(inputs, out), ...);
    }

    template <class Tag>
    void KeepOne(const Operand (&inputs)[Op::kArity], const Array& out) {
        constexpr int i = TagTraits<Tag>::kInput;
        if constexpr (i < 0) {
            Base::KeepOutput(out);
        } else {
            Base::KeepInput(i, inputs[i], out);
        }
    }

    template <int I>
    void Compute(BackwardContext& ctx) {
        if constexpr (GradOf<Op, I>::kExists) {
            if (ctx.IsWanted(I)) Base::SetGrad(ctx, I, Invoke(GradOf<Op, I>::kFunction, ctx));
        }
    }

    template <class... Tags>
    Array Invoke(Array (Op::*f)(const Array&, Tags...) const, BackwardContext& ctx) {
        if constexpr ((Op::kDtypes & kComplexSet) != 0 && sizeof...(Tags) != 0) {
            if (CHAINERX_UNLIKELY(IsComplex(ctx.grad().dtype()))) {
                return Conj((op_.*f)(Conj(ctx.grad()), Provide<Tags>(ctx)...));
            }
        }
        return (op_.*f)(ctx.grad(), Provide<Tags>(ctx)...);
    }

    template <class Tag>
    Tag Provide(BackwardContext& ctx) {
        constexpr int i = TagTraits<Tag>::kInput;
        if constexpr (i < 0) {
            return Tag{Base::GetOutput(ctx)};
        } else {
            return Tag{Base::GetInput(i)};
        }
    }

    Op op_;
};

template <class Op>
inline const ElementwiseKernel g_elementwise_kernel{Op::kName, int{sizeof(Op)}};

template <class Op>
const ElementwiseKernel& KernelOf() {
    static_assert(std::is_trivially_copyable_v<Op>, "calls of kernels are kept with copies of their functors");
    // The type decides: GCC takes no address for a constant where sanitizers check for null.
    if constexpr (std::is_null_pointer_v<decltype(Op::kSharedKernel)>) {
        return g_elementwise_kernel<Op>;
    } else {
        return *Op::kSharedKernel;
    }
}

template <class Op>
const ElementwiseKernel& ElementwiseCaller<Op, 1>::kernel() {
    return KernelOf<Op>();
}
template <class Op>
const ElementwiseKernel& ElementwiseCaller<Op, 2>::kernel() {
    return KernelOf<Op>();
}
template <class Op>
const ElementwiseKernel& ElementwiseCaller<Op, 3>::kernel() {
    return KernelOf<Op>();
}

template <class Op>
Array ApplyElementwise(const Op& op, const Operand (&inputs)[Op::kArity]) {
    Array out = internal::RunElementwise(Op::Info(), &op, inputs, Op::kArity);
    if constexpr (kHasGrad<Op>) {
        GraphMask mask = 0;
        for (const Operand& x : inputs) {
            if (x.is_array()) mask |= internal::GetRecordMask(x.array());
        }
        if (mask != 0) {
            auto* node = new ElementwiseNode<Op>{op, mask};
            IntrusivePtr<OpNode> guard{node};
            node->Record(inputs, out, mask);
        }
    }
    return out;
}

template <class Op>
Array ElementwiseCaller<Op, 1>::Call(const Array& x) {
    return ApplyElementwise(Op{}, {Operand{x}});
}
template <class Op>
Array ElementwiseCaller<Op, 2>::Call(const Operand& x1, const Operand& x2) {
    return ApplyElementwise(Op{}, {x1, x2});
}
template <class Op>
Array ElementwiseCaller<Op, 3>::Call(const Operand& x1, const Operand& x2, const Operand& x3) {
    return ApplyElementwise(Op{}, {x1, x2, x3});
}

template <class Op>
void ElementwiseCaller<Op, 2>::CallInPlace(const Array& x1, const Operand& x2) {
    internal::CheckInPlace(x1, Op::kName);
    if (x2.is_array() && internal::GetRecordMask(x2.array()) != 0) {
        throw ChainerxError{"in-place ", Op::kName,
                            " with an operand that belongs to a computational graph cannot be recorded; "
                            "write x = x + y instead of x += y"};
    }
    Operand inputs[] = {x1, x2};
    Op op{};
    internal::RunElementwiseInto(Op::Info(), &op, inputs, 2, x1);
}

// For ops whose Call is inherited, and for ops with parameters, whose Call is in the header of the family and needs
// ApplyElementwise from the library.
#define CHAINERX_INSTANTIATE_ELEMENTWISE(Op)           \
    template struct ElementwiseCaller<Op, Op::kArity>; \
    template Array ApplyElementwise(const Op& op, const Operand(&inputs)[Op::kArity]);

}  // namespace chainerx::ops
