#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/kernel_watch.h"
#include "chainerx/core/kernels.h"

namespace chainerx {

// Elementwise calls on arrays of one size, which run one after the other on each tile of the arrays. What they pass on
// stays in the cache, and temporary arrays exist as tiles only. Each element is computed as the calls do.
class TiledCall final : public KernelCall {
public:
    // Collects calls that can run together.
    class Group {
    public:
        // Whether a call can be the next one. `may_write`: tells whether no other array shares the memory of an array.
        template <class F>
        bool Accepts(const KernelCall& call, F&& may_write) const {
            const auto* elementwise = call.Find<ElementwiseCall>();
            return elementwise != nullptr && may_write(*elementwise->out) && Fits(*elementwise);
        }
        void Add(const KernelCall& call);

    private:
        bool Fits(const ElementwiseCall& call) const;

        int64_t size_{0};
        std::unordered_map<const Storage*, Array> arrays_;
    };

    // `is_temporary`: tells whether no other call uses the memory of an array.
    template <class F>
    TiledCall(std::vector<std::unique_ptr<KernelCall>> calls, F&& is_temporary)
        : KernelCall{calls.back()->slot()}, calls_{std::move(calls)} {
        for (const std::unique_ptr<KernelCall>& call : calls_) {
            const auto* elementwise = call->Find<ElementwiseCall>();
            for (int k = 0; k <= elementwise->n_inputs; ++k) {
                const Array* a = OperandOf(*elementwise, k);
                if (a != nullptr && is_temporary(*a)) temporaries_.try_emplace(a->body()->storage.get(), nullptr);
            }
        }
        ReleaseTemporaries();
    }

    void Run() const override;
    void Accept(ArgumentVisitor& visitor) override;
    std::string GetName() const override;

private:
    static const Array* OperandOf(const ElementwiseCall& call, int k) { return k == 0 ? call.out : call.in[k - 1]; }
    const void* FindArgument(const std::type_info&) const override { return nullptr; }
    void ReleaseTemporaries();
    void RunRange(int64_t begin, int64_t end) const;

    std::vector<std::unique_ptr<KernelCall>> calls_;
    // Memory of temporary arrays, a byte each, by that of the recording.
    std::unordered_map<const Storage*, StoragePtr> temporaries_;
};

}  // namespace chainerx
