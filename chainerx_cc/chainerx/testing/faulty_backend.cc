// Backend libraries that loading must refuse, one for each value of FAULT.

#include <stdexcept>
#include <string>

#if FAULT == 1  // compiled with the headers of another version

namespace chainerx {
class Context;
namespace internal {
template <int kVersion>
struct AbiVersion {};
}  // namespace internal
class Backend {
public:
    Backend(Context& context, std::string name, internal::AbiVersion<0> = {});
};
}  // namespace chainerx

extern "C" chainerx::Backend* CreateBackend(chainerx::Context& context) {
    return new chainerx::Backend{context, "faulty1"};
}

#elif FAULT == 2  // no function

int CreateSomethingElse() { return 0; }

#else

#include "chainerx/core/context.h"

namespace {

class FaultyBackend final : public chainerx::Backend {
public:
    using Backend::Backend;
    int GetDeviceCount() const override { return 1; }

protected:
    std::unique_ptr<chainerx::Device> CreateDevice(int) override { throw std::runtime_error{"no device"}; }
};

}  // namespace

extern "C" chainerx::Backend* CreateBackend(chainerx::Context& context) {
    switch (FAULT) {
        case 3:
            throw std::runtime_error{"no driver"};
        case 4:
            throw 4;
        case 5:
            return nullptr;
        case 6:
            return new FaultyBackend{context, "other"};
        case 7:
            return new FaultyBackend{chainerx::GetGlobalDefaultContext(), "faulty7"};
        case 8:
            context.GetBackend("faulty8");
            return nullptr;
        default:
            return new FaultyBackend{context, "faulty9"};
    }
}

#endif
