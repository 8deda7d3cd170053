#include "chainerx/core/error.h"

#include <sstream>

namespace chainerx::internal {

void MessagePart::WriteText(std::ostream& os, const void* text) { os << static_cast<const char*>(text); }

std::string ConcatParts(const MessagePart* parts, size_t n) {
    std::ostringstream os;
    os << std::boolalpha;
    for (size_t i = 0; i < n; ++i) parts[i].Write(os);
    return os.str();
}

}  // namespace chainerx::internal
