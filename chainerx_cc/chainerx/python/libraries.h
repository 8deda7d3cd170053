#pragma once

namespace chainerx::python {

void BindLibraries();

}  // namespace chainerx::python
