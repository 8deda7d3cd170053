#pragma once

#include <type_traits>
#include <utility>
#include <vector>

#include "chainerx/core/kernel_watch.h"

namespace chainerx {

// Calls a function for each array, but for those without a body, for each random stream, or for each list of scalars of
// calls of kernels.
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
    void Visit(std::vector<double>& scalars) override {
        if constexpr (std::is_invocable_v<F, std::vector<double>&>) f_(scalars);
    }

private:
    F f_;
};

}  // namespace chainerx
