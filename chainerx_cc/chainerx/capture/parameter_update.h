#pragma once

#include <functional>
#include <memory>
#include <typeinfo>
#include <utility>
#include <vector>

#include "chainerx/capture/fusion.h"
#include "chainerx/capture/recording.h"
#include "chainerx/core/array.h"
#include "chainerx/core/kernel_watch.h"

namespace chainerx {

// An update of some parameters, a part of a call that updates more. The parts share their scalars, which the first one
// shows to visitors.
class ParameterUpdate final : public KernelCall {
public:
    using Kernel = void (*)(const std::vector<double>& scalars, const std::vector<Array>& arrays);
    using Scalars = std::shared_ptr<std::vector<double>>;

    ParameterUpdate(const KernelSlotBase& slot, Kernel kernel, Scalars scalars, bool is_first,
                    std::vector<Array> arrays)
        : KernelCall{slot},
          kernel_{kernel},
          scalars_{std::move(scalars)},
          is_first_{is_first},
          arrays_{std::move(arrays)} {}

    const std::vector<Array>& arrays() const { return arrays_; }
    void RunOn(const std::vector<Array>& arrays) const { kernel_(*scalars_, arrays); }
    void Run() const override { RunOn(arrays_); }
    void Accept(ArgumentVisitor& visitor) override {
        if (is_first_) visitor.Visit(*scalars_);
        for (Array& a : arrays_) visitor.Visit(a);
    }

private:
    const void* FindArgument(const std::type_info&) const override { return nullptr; }

    Kernel kernel_;
    Scalars scalars_;
    bool is_first_;
    std::vector<Array> arrays_;
};

// Takes large parameters with float32 copies out of the calls that update many, where they can run in tiles: the
// gradient's cast to float32 comes right before the update of one parameter then, and the cast of the new float32 copy
// right after it.
void SplitUpdates(Recording& recording, const std::function<FusedMemory(const Storage&)>& get_memory);

}  // namespace chainerx
