#pragma once

#include <type_traits>
#include <utility>

#include "chainerx/core/kernel_watch.h"

namespace chainerx {

// Calls a function for each array, but for those without a body, or for each random stream of calls of kernels.
template <class F>
class CallVisitor final : public ArgumentVisitor {
public:
    explicit CallVisitor(F f) : f_{std::move(f)} {}
    void Visit(Array& array) override {
        if constexpr (std::is_invocable_v<F, Array&>) {
            if (array) f_(array);
        }
    }
    void Visit(RandomStream& stream) override {
        if constexpr (std::is_invocable_v<F, RandomStream&>) f_(stream);
    }

private:
    F f_;
};

}  // namespace chainerx
