#include "chainerx/core/blocking.h"

namespace chainerx {

BlockingHooks g_blocking_hooks;

}  // namespace chainerx
