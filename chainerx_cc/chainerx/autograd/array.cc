// The graph-related members of the classes in core/array.h.

#include "chainerx/core/array.h"

#include <utility>

#include "chainerx/autograd/graph.h"

namespace chainerx {

ArrayNode* ArrayBody::SetNode(IntrusivePtr<ArrayNode> node) noexcept {
    ArrayNode* present = nullptr;
    if (!node_.compare_exchange_strong(present, node.get(), std::memory_order_acq_rel)) return present;
    return node.Release();
}

void ArrayBody::DropNode() noexcept {
    IntrusivePtr<ArrayNode> owned = IntrusivePtr<ArrayNode>::Adopt(node());
    owned->ForgetBody(this);
}

const Array& Array::RequireGrad(const std::optional<BackpropId>& id) const {
    if (!IsInexact(dtype()))
        throw DtypeError{"only arrays of a floating point or complex dtype can require a gradient, not ", dtype()};
    BackpropId g = internal::GetBackpropId(*this, id);
    ArrayNode* node = body_->node();
    if (node == nullptr) node = body_->SetNode(IntrusivePtr<ArrayNode>{new ArrayNode{*body_, g.mask()}});
    if ((node->mask() & g.mask()) == 0) node->AddToGraph(g);
    node->RequireGrad(g);
    return *this;
}

bool Array::IsGradRequired(const std::optional<BackpropId>& id) const {
    BackpropId g = internal::GetBackpropId(*this, id);
    const ArrayNode* node = body_->node();
    return node != nullptr && (node->mask() & g.mask()) != 0 && node->IsGradRequired(g);
}

bool Array::IsBackpropRequired(const std::optional<BackpropId>& id) const {
    BackpropId g = internal::GetBackpropId(*this, id);
    return (internal::GetRecordMask(*this) & g.mask()) != 0;
}

bool Array::IsAnyBackpropRequired() const { return internal::GetRecordMask(*this) != 0; }

bool Array::IsChained(const std::optional<BackpropId>& id) const {
    BackpropId g = internal::GetBackpropId(*this, id);
    const ArrayNode* node = body_->node();
    return node != nullptr && (node->mask() & g.mask()) != 0 && node->creator() != nullptr &&
           (node->creator()->mask() & g.mask()) != 0;
}

namespace {

ArrayNode& GetNode(const Array& a, const BackpropId& g) {
    ArrayNode* node = a.body()->node();
    if (node == nullptr || (node->mask() & g.mask()) == 0) {
        throw GradientError{"the array has no gradient: it does not belong to the graph '", g.GetName(),
                            "'; call require_grad() first"};
    }
    return *node;
}

}  // namespace

Array Array::GetGrad(const std::optional<BackpropId>& id) const {
    BackpropId g = internal::GetBackpropId(*this, id);
    ArrayNode& node = GetNode(*this, g);
    Array grad = node.GetGrad(g);
    if (!grad && !node.IsGradRequired(g)) {
        throw ChainerxError{"the array has no gradient: it does not require one in the graph '", g.GetName(),
                            "'; call require_grad() first"};
    }
    return grad;
}

void Array::SetGrad(const Array& grad, const std::optional<BackpropId>& id) const {
    BackpropId g = internal::GetBackpropId(*this, id);
    ArrayNode& node = GetNode(*this, g);
    if (grad) {
        if (grad.shape() != shape()) {
            throw GradientError{"the gradient has shape ", grad.shape(), " but the array has shape ", shape()};
        }
        if (grad.dtype() != dtype()) {
            throw GradientError{"the gradient has dtype ", grad.dtype(), " but the array has dtype ", dtype()};
        }
        CheckDevices(*this, grad);
    }
    node.SetGrad(g, grad);
}

void Array::ClearGrad(const std::optional<BackpropId>& id) const { SetGrad(Array{}, id); }

}  // namespace chainerx
