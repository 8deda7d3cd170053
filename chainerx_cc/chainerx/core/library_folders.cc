#include "chainerx/core/library_folders.h"

namespace chainerx {

std::vector<std::string> (*g_library_folders)() = nullptr;

}  // namespace chainerx
