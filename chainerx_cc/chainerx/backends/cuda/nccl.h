#pragma once

#include "chainerx/core/device_group.h"

namespace chainerx::cuda {

// Groups of GPUs by NCCL, which is found at run time. Without it, BackendError says what to install.
extern const DeviceGroupFunctions g_nccl_groups;

}  // namespace chainerx::cuda
