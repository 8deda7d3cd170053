#include "chainerx/core/compute_mode.h"

#include <atomic>
#include <cstdlib>

#include "chainerx/core/error.h"

namespace chainerx {
namespace {

constexpr const char* kNames[] = {"float32", "tf32", "float16", "bfloat16"};  // in the order of the values

std::atomic<ComputeMode>& Current() {
    static std::atomic<ComputeMode> mode{[] {
        const char* name = std::getenv("CHAINERX_COMPUTE_MODE");
        return name == nullptr || *name == '\0'
                       ? ComputeMode::kFloat32
                       : ParseComputeMode(name, "the environment variable CHAINERX_COMPUTE_MODE");
    }()};
    return mode;
}

}  // namespace

ComputeMode GetComputeMode() { return Current().load(std::memory_order_relaxed); }
void SetComputeMode(ComputeMode mode) { Current().store(mode, std::memory_order_relaxed); }

const char* GetName(ComputeMode mode) { return kNames[static_cast<int>(mode)]; }

ComputeMode ParseComputeMode(const std::string& name, const char* what) {
    for (int i = 0; i < 4; ++i) {
        if (name == kNames[i]) return static_cast<ComputeMode>(i);
    }
    throw ValueError{what, " must be 'float32', 'tf32', 'float16' or 'bfloat16', not '", name, "'"};
}

}  // namespace chainerx
