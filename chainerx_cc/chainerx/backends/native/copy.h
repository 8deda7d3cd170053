#pragma once

#include "chainerx/backends/native/elementwise.h"
#include "chainerx/core/convert.h"

namespace chainerx::native {

// Row functions that convert elements of the type T to each dtype.
CHAINERX_ISA_KERNEL(GetCopyRows, (RowTable * rows), (rows))

}  // namespace chainerx::native
