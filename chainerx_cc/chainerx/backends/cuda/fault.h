#pragma once

// Errors that kernels find in their data. A kernel reports the first one to memory of the host (report_fault.h) and
// goes on with a harmless value, so no call waits for the GPU; the next one that waits for the device raises the error.

#include <cstdint>

namespace chainerx::cuda {

enum class FaultKind : int { kBeingWritten = -1, kNone, kIndex, kLabel };

struct Fault {
    int kind;  // FaultKind
    int64_t value;
    int64_t bound;
};

// Raises the reported error, if there is one, and forgets it. The device's work must be done.
void CheckFault(Fault* fault);

}  // namespace chainerx::cuda
