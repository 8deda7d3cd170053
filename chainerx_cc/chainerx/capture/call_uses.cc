#include "chainerx/capture/call_uses.h"

#include "chainerx/capture/call_visitor.h"

namespace chainerx {

std::vector<Array> ArraysOf(KernelCall& call) {
    std::vector<Array> arrays;
    CallVisitor visitor{[&arrays](const Array& a) { arrays.push_back(a); }};
    call.Accept(visitor);
    return arrays;
}

CallUses FindUses(const KernelCalls& calls) {
    CallUses all;
    for (size_t i = 0; i < calls.size(); ++i) {
        if (calls[i] == nullptr) continue;
        for (const Array& a : ArraysOf(*calls[i])) {
            std::vector<size_t>& uses = all[a.body()->storage.get()];
            if (uses.empty() || uses.back() != i) uses.push_back(i);
        }
    }
    return all;
}

}  // namespace chainerx
