#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "chainerx/capture/fusion.h"
#include "chainerx/capture/tile_step.h"
#include "chainerx/core/array.h"
#include "chainerx/core/kernel_watch.h"

namespace chainerx {

// Calls that run one after the other on each tile of arrays of one size. What they pass on stays in the cache, and
// temporary arrays exist as tiles only. Each element is computed as the calls do.
class TiledCall final : public KernelCall {
public:
    // Elements of arrays; smaller ones stay in the cache anyway.
    static constexpr int64_t kMinSize = 32768;
    // Whether kernels of a device run on tiles.
    static bool CanRunOn(Device& device);

    // Collects calls that can run together.
    class Group {
    public:
        explicit Group(std::function<FusedMemory(const Array&)> get_memory) : get_memory_{std::move(get_memory)} {}
        // Whether a call becomes the next one.
        bool Add(const KernelCall& call);

    private:
        bool Fits(const TileStep& step) const;
        bool MayWrite(const TileStep& step);

        std::function<FusedMemory(const Array&)> get_memory_;
        int64_t size_{0};
        std::unordered_map<const Storage*, Array> arrays_;
        std::vector<const Array*> held_;
        bool writes_held_{false};
        bool has_other_{false};
    };

    // `is_temporary`: tells whether no other call uses the memory of an array.
    TiledCall(std::vector<std::unique_ptr<KernelCall>> calls, const std::function<bool(const Array&)>& is_temporary);

    void Run() const override;
    void Accept(ArgumentVisitor& visitor) override;
    std::string GetName() const override;

private:
    const void* FindArgument(const std::type_info&) const override { return nullptr; }
    void ReleaseTemporaries();
    void RunRange(int64_t begin, int64_t end) const;

    std::vector<std::unique_ptr<KernelCall>> calls_;
    std::vector<TileStep> steps_;  // of the calls
    // Memory of temporary arrays, a byte each, by that of the recording.
    std::unordered_map<const Storage*, StoragePtr> temporaries_;
};

}  // namespace chainerx
