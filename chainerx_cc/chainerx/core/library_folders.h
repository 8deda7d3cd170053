#pragma once

#include <string>
#include <vector>

namespace chainerx {

// The folders of installed packages, some of which hold libraries that backends load. A language binding installs
// this. Not inline: the Python module, which hides its symbols, would have a variable of its own.
extern std::vector<std::string> (*g_library_folders)();

}  // namespace chainerx
