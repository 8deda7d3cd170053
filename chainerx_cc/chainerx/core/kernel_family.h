#pragma once

#include "chainerx/core/backend.h"

namespace chainerx {

// A function that registers kernels of the backend class `B`. Each source file with kernels ends with one, which makes
// them known to the backend:
//
//     const KernelFamily<NativeBackend> g_sorting_kernels{
//             [](Backend& backend) { kSortKernel.Register(backend, &Sort); }};
template <class B>
class KernelFamily {
public:
    using Function = void (*)(Backend& backend);

    explicit KernelFamily(Function function) : function_{function}, next_{first_} { first_ = this; }
    KernelFamily(const KernelFamily&) = delete;
    KernelFamily& operator=(const KernelFamily&) = delete;

    // Fills the slots of a new backend.
    static void RegisterAll(B& backend) {
        for (const KernelFamily* f = first_; f != nullptr; f = f->next_) f->function_(backend);
    }

private:
    // Constant-initialized, so it is set before the constructors of static objects run in any order.
    static inline const KernelFamily* first_ = nullptr;

    Function function_;
    const KernelFamily* next_;
};

}  // namespace chainerx
