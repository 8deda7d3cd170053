#include "chainerx/core/device_group.h"

namespace chainerx {

const DeviceGroupFunctions* g_device_group_functions = nullptr;

}  // namespace chainerx
