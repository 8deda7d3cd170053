// Groups of devices that combine arrays.

#include "chainerx/python/device_group.h"

#include <memory>
#include <string>

#include "chainerx/core/backend.h"
#include "chainerx/core/device_group.h"
#include "chainerx/core/error.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/object.h"

namespace chainerx::python {

using GroupPtr = std::shared_ptr<DeviceGroup>;

template <>
struct Arg<DeviceGroup> {
    static std::string Type() { return "_DeviceGroup"; }
    static DeviceGroup& Get(PyObject* o, const char* name) {
        return *ValueArg<GroupPtr>(o, name, "chainerx._core._DeviceGroup");
    }
};

namespace {

// `device`: one of the backend, which has to be loaded.
const DeviceGroupFunctions& GetFunctions(const Device& device) {
    if (g_device_group_functions == nullptr || device.backend().name() != "cuda") {
        throw BackendError{"devices of the backend '", device.backend().name(), "' form no groups"};
    }
    return *g_device_group_functions;
}

std::string MakeName(Device& device) { return GetFunctions(device).make_name(); }

GroupPtr Join(Device& device, int64_t size, const std::string& name, int64_t rank) {
    return GetFunctions(device).join(device, static_cast<int>(size), name, static_cast<int>(rank));
}

void SumToAll(DeviceGroup& self, const Array& a) { self.SumToAll(a); }
void Sum(DeviceGroup& self, const Array& a, int64_t root) { self.Sum(a, static_cast<int>(root)); }
void Broadcast(DeviceGroup& self, const Array& a, int64_t root) { self.Broadcast(a, static_cast<int>(root)); }

}  // namespace

void BindDeviceGroups() {
    Function<&MakeName>("_make_device_group_name", "device",
                        "A new name of a group of GPUs, with which each of its members joins it.");
}

void AddDeviceGroups(PyObject* module) {
    Class<GroupPtr>{"_DeviceGroup",
                    "GPUs, usually each of another process, that combine arrays in place; see core/device_group.h."}
            .Init<&Join>("device, size, name, rank")
            .Method<&SumToAll>("sum_to_all", "self, array", "Adds the arrays of all members, for all of them.")
            .Method<&Sum>("sum", "self, array, root", "Adds the arrays of all members, for one of them.")
            .Method<&Broadcast>("broadcast", "self, array, root", "Sends the array of one member to all.")
            .Add(module);
}

}  // namespace chainerx::python
