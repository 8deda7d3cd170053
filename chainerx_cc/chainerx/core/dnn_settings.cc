#include "chainerx/core/dnn_settings.h"

namespace chainerx {

DnnSettings (*g_dnn_settings)() = nullptr;
int (*g_dnn_version)() = nullptr;
void (*g_warn_of_dnn)(const std::string& message) = nullptr;

}  // namespace chainerx
