#pragma once

// Records operations that are not elementwise, and those that a program defines.

#include <initializer_list>
#include <utility>
#include <vector>

#include "chainerx/autograd/graph.h"
#include "chainerx/core/array.h"

namespace chainerx {

// A node whose backward computation is a function object of the type `F`, called as f(BackwardContext&). Its members
// hold the kept values.
template <class F>
class FunctionObjectNode final : public OpNode {
public:
    FunctionObjectNode(const char* name, GraphMask mask, F&& f) : OpNode{name, mask}, f_{std::move(f)} {}
    ~FunctionObjectNode() override {
        if (alive_) f_.~F();
    }
    void Backward(BackwardContext& ctx) override { f_(ctx); }
    void ReleaseSaved() noexcept override {
        if (alive_) f_.~F();
        alive_ = false;
    }

private:
    union {
        F f_;
    };
    bool alive_{true};
};

namespace internal {

inline GraphMask GetRecordMask(std::initializer_list<const Array*> inputs) noexcept {
    GraphMask mask = 0;
    for (const Array* a : inputs) {
        if (a != nullptr && *a) mask |= GetRecordMask(*a);
    }
    return mask;
}

// Connects outputs to inputs. An input that is null or no array gets no gradient.
template <class Inputs = std::initializer_list<const Array*>, class F>
void Record(const char* name, GraphMask mask, const Inputs& inputs, std::initializer_list<const Array*> outputs,
            F&& backward) {
    auto* node = new FunctionObjectNode<std::decay_t<F>>{name, mask, std::forward<F>(backward)};
    IntrusivePtr<OpNode> guard{node};
    for (const Array* a : inputs) {
        if (a != nullptr && *a) {
            node->AddInput(*a, mask);
        } else {
            node->AddNoInput();
        }
    }
    for (const Array* a : outputs) node->AddOutput(*a);
}

// Records an operation on one array whose gradient is computed from gy alone.
template <class F>
Array RecordView(const char* name, const Array& a, Array out, F&& backward) {
    if (GraphMask mask = GetRecordMask(a)) {
        Record(name, mask, {&a}, {&out},
               [f = std::forward<F>(backward)](BackwardContext& ctx) { ctx.SetGrad(0, f(ctx.grad())); });
    }
    return out;
}

}  // namespace internal

// Connects results that were computed outside of graphs (in a NoBackpropModeScope) to their inputs. `backward` is a
// function object that computes the gradients of the inputs and keeps the values that it reads in members of the type
// Saved. If it uses differentiable operations, gradients of any order follow.
template <class F>
void RecordFunction(const char* name, std::initializer_list<const Array*> inputs,
                    std::initializer_list<const Array*> outputs, F&& backward) {
    if (GraphMask mask = internal::GetRecordMask(inputs)) {
        internal::Record(name, mask, inputs, outputs, std::forward<F>(backward));
    }
}

}  // namespace chainerx
