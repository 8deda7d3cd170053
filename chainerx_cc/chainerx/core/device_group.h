#pragma once

#include <memory>
#include <string>

#include "chainerx/core/array.h"
#include "chainerx/core/device.h"

namespace chainerx {

// Devices that combine arrays, usually each of another process. All of them make the same calls in the same order, on
// contiguous arrays of one shape and dtype, which change in place. The work is in the current stream of each device.
class DeviceGroup {
public:
    DeviceGroup() = default;
    DeviceGroup(const DeviceGroup&) = delete;
    DeviceGroup& operator=(const DeviceGroup&) = delete;
    virtual ~DeviceGroup() = default;

    // The arrays become their sum: all of them, or that of one rank, whereupon the others keep no certain values.
    virtual void SumToAll(const Array& a) = 0;
    virtual void Sum(const Array& a, int root) = 0;
    // The arrays become that of one rank.
    virtual void Broadcast(const Array& a, int root) = 0;
};

// How a backend makes groups. The backend installs this.
struct DeviceGroupFunctions {
    // A new name, which one member makes and all get to know. Text.
    std::string (*make_name)();
    // Waits until all members have joined.
    std::shared_ptr<DeviceGroup> (*join)(Device& device, int size, const std::string& name, int rank);
};
// Not inline: the Python module, which hides its symbols, would have a variable of its own.
extern const DeviceGroupFunctions* g_device_group_functions;

}  // namespace chainerx
