#include "chainerx/capture/call_uses.h"

#include <algorithm>

#include "chainerx/capture/call_visitor.h"
#include "chainerx/core/kernels.h"
#include "chainerx/ops/convolution.h"
#include "chainerx/ops/linalg.h"
#include "chainerx/ops/reduction.h"

namespace chainerx {
namespace {

// Whether a call only reads some memory, as far as is known.
bool OnlyReads(KernelCall& call, const Storage& memory) {
    auto is_in = [&memory](const Array& a) { return a.body()->storage.get() == &memory; };
    if (const auto* elementwise = call.Find<ElementwiseCall>()) return !is_in(*elementwise->out);
    bool is_known = call.slot() == kMatmulKernel || call.slot() == kCopyKernel || call.slot() == kSumKernel ||
                    call.slot() == kConvKernel || call.slot() == kConvDataKernel || call.slot() == kConvWeightKernel;
    return is_known && !is_in(ArraysOf(call).back());  // the output comes last
}

}  // namespace

std::vector<Array> ArraysOf(KernelCall& call) {
    std::vector<Array> arrays;
    arrays.reserve(8);  // as many as most calls have, at once
    CallVisitor visitor{[&arrays](const Array& a) { arrays.push_back(a); }};
    call.Accept(visitor);
    return arrays;
}

CallUses FindUses(const KernelCalls& calls) {
    CallUses all;
    all.reserve(calls.size());
    size_t i = 0;
    CallVisitor visitor{[&all, &i](const Array& a) {
        std::vector<size_t>& uses = all[a.body()->storage.get()];
        if (uses.empty() || uses.back() != i) uses.push_back(i);
    }};
    for (; i < calls.size(); ++i) {
        if (calls[i] != nullptr) calls[i]->Accept(visitor);
    }
    return all;
}

bool IsUnchanged(const KernelCalls& calls, const CallUses& uses, const Storage& memory, size_t after, size_t before) {
    const std::vector<size_t>& all = uses.at(&memory);
    return std::all_of(all.begin(), all.end(), [&](size_t i) {
        return i <= after || i >= before || calls[i] == nullptr || OnlyReads(*calls[i], memory);
    });
}

}  // namespace chainerx
