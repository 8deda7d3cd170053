#pragma once

#include <memory>
#include <string>

#include "chainerx/core/backend.h"

namespace chainerx::internal {

// Makes a backend with the shared library `backends/<name>.so` in one of the folders of CHAINERX_PATH. Raises
// BackendError if there is none or it does not work; `known` names the backends that need no library.
std::unique_ptr<Backend> LoadBackend(Context& context, const std::string& name, const std::string& known);

}  // namespace chainerx::internal
