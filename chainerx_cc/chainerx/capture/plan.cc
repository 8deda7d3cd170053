#include "chainerx/capture/plan.h"

#include <algorithm>
#include <chrono>
#include <sstream>

#include "chainerx/capture/call_visitor.h"
#include "chainerx/core/backend.h"
#include "chainerx/core/context.h"
#include "chainerx/core/error.h"

namespace chainerx {
namespace {

bool HasForm(const Array& a, const ArrayForm& form) {
    return a.shape() == form.shape && a.dtype() == form.dtype && a.strides() == form.strides;
}

void Bind(ArrayBody& body, const StoragePtr& storage, int64_t offset) {
    body.storage = storage;
    body.offset = offset;
    body.data = static_cast<char*>(storage->data()) + offset;
}

}  // namespace

bool Plan::Fits(const std::vector<Array>& inputs) const {
    if (inputs.size() > inputs_.size()) return false;
    for (size_t i = 0; i < inputs.size(); ++i) {
        if (&inputs[i].device() != device_ || !HasForm(inputs[i], inputs_[i])) return false;
        const Storage* storage = inputs[i].body()->storage.get();
        if (std::binary_search(held_.begin(), held_.end(), storage)) return false;
        for (size_t j = 0; j < i; ++j) {
            if (inputs[j].body()->storage.get() == storage) return false;
        }
    }
    return true;
}

std::vector<Array> Plan::Start(const std::vector<Array>& inputs) {
    if (inputs.size() != inputs_.size() || !Fits(inputs)) {
        throw ChainerxError{"a plan of ", inputs_.size(), " inputs cannot run on these ", inputs.size()};
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
        const ArrayBody& input = *inputs[i].body();
        for (const Binding& b : input_bindings_[i]) Bind(*b.body, input.storage, input.offset + b.offset);
    }
    for (const Array& a : renewed_) a.ClearGrad();
    std::vector<StoragePtr> blocks;
    blocks.reserve(output_bytes_.size());
    for (size_t i = 0; i < output_bytes_.size(); ++i) {
        for (const Binding& b : output_bindings_[i]) b.body->storage = nullptr;  // the block may be free now
        blocks.push_back(device_->Allocate(output_bytes_[i]));
        for (const Binding& b : output_bindings_[i]) Bind(*b.body, blocks[i], b.offset);
    }
    outputs_.clear();
    for (const PlanResult& r : results_) {
        if (r.memory == PlanMemory::kHeld) {
            outputs_.push_back(r.held.AsDetached());
            continue;
        }
        bool is_input = r.memory == PlanMemory::kInput;
        const StoragePtr& storage = is_input ? inputs[r.index].body()->storage : blocks[r.index];
        int64_t offset = r.form.offset + (is_input ? inputs[r.index].offset() : 0);
        outputs_.push_back(internal::MakeArray(r.form.shape, r.form.strides, r.form.dtype, *device_, storage, offset));
    }
    for (const StoragePtr& storage : changed_) storage->BumpVersion();
    for (size_t i : changed_inputs_) inputs[i].body()->storage->BumpVersion();
    return outputs_;
}

void Plan::Run(size_t segment) {
    if (segment >= segments_.size()) throw IndexError{"a plan has no segment ", segment};
    const SegmentEnds begin = segment == 0 ? SegmentEnds{0, 0, 0} : segments_[segment - 1];
    const SegmentEnds& end = segments_[segment];
    for (size_t i = begin.draws; i < end.draws; ++i) {
        const Draw& draw = draws_[i];
        RandomStream stream =
                streams_.empty() ? device_->context().random_generator().Take(draw.count) : streams_.at(i);
        for (RandomStream* target : draw.targets) *target = stream;
    }
    RunCalls(begin.calls, end.calls);
    for (size_t i = begin.grads; i < end.grads; ++i) {
        PlanGrad& grad = grads_[i];
        if (grad.result.has_value()) {
            grad.target.SetGrad(outputs_[*grad.result]);
        } else {
            grad.target.ClearGrad();
        }
    }
    if (segment + 1 != segments_.size()) return;
    outputs_.clear();
    streams_.clear();
}

void Plan::SetScalars(size_t index, const std::vector<double>& scalars) {
    if (index >= scalars_.size() || scalars_[index]->size() != scalars.size()) {
        throw DimensionError{"a plan has no call of the number ", index, " with ", scalars.size(), " scalars"};
    }
    *scalars_[index] = scalars;
}

void Plan::RunCalls(size_t begin, size_t end) {
    if (CHAINERX_LIKELY(seconds_.empty())) {
        for (size_t i = begin; i < end; ++i) calls_[i]->Run();
        return;
    }
    auto last = std::chrono::steady_clock::now();
    for (size_t i = begin; i < end; ++i) {
        calls_[i]->Run();
        auto now = std::chrono::steady_clock::now();
        seconds_[i] += std::chrono::duration<double>(now - last).count();
        last = now;
    }
}

void Plan::SetMeasured(bool is_measured) { seconds_.assign(is_measured ? calls_.size() : 0, 0); }

std::string Plan::Describe() const {
    std::ostringstream text;
    for (size_t i = 0; i < calls_.size(); ++i) {
        text << (seconds_.empty() ? 0 : seconds_[i]) << ' ' << calls_[i]->GetName();
        CallVisitor visitor{[&text](const Array& a) { text << ' ' << a.dtype() << a.shape(); }};
        calls_[i]->Accept(visitor);
        text << '\n';
    }
    return text.str();
}

}  // namespace chainerx
