#include "chainerx/capture/lost_graph.h"

#include "chainerx/autograd/graph.h"
#include "chainerx/core/error.h"

namespace chainerx {
namespace {

class LostGraph final : public OpNode {
public:
    explicit LostGraph(GraphMask mask) : OpNode{"LostGraph", mask} {}
    void ReleaseSaved() noexcept override {}
    void Backward(BackwardContext&) override {
        throw GradientError{
                "backward reaches an array that a plan of chainer.compile has left in an attribute, without the graph "
                "of its call: cut it off before, as unchain_backward() and reset_state() do, or call the function "
                "without chainer.compile"};
    }
};

}  // namespace

void LoseGraph(const Array& a, const std::vector<Array>& leaves) {
    GraphMask mask = 0;
    for (const Array& leaf : leaves) mask |= internal::GetRecordMask(leaf);
    if (mask == 0) return;  // no gradient would get lost
    IntrusivePtr<OpNode> op{new LostGraph{mask}};
    for (const Array& leaf : leaves) op->AddInput(leaf, mask);
    op->AddOutput(a);
}

}  // namespace chainerx
