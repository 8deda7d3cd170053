// Libraries that backends load, and how they compute.

#include "chainerx/python/libraries.h"

#include <string>
#include <vector>

#include "chainerx/core/compute_mode.h"
#include "chainerx/core/library_folders.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/docs/compute_mode.h"

namespace chainerx::python {
namespace {

std::vector<std::string> GetModuleFolders() {
    PyGILState_STATE state = PyGILState_Ensure();
    std::vector<std::string> folders;
    PyObject* path = PySys_GetObject("path");  // borrowed
    for (Py_ssize_t i = 0; path != nullptr && PyList_Check(path) && i < PyList_GET_SIZE(path); ++i) {
        PyObject* item = PyList_GET_ITEM(path, i);
        const char* folder = PyUnicode_Check(item) ? PyUnicode_AsUTF8(item) : nullptr;
        if (folder != nullptr && *folder != '\0') folders.emplace_back(folder);
    }
    PyErr_Clear();  // of folders that are no text
    PyGILState_Release(state);
    return folders;
}

std::string PyGetComputeMode() { return GetName(GetComputeMode()); }
void PySetComputeMode(const std::string& mode) { SetComputeMode(ParseComputeMode(mode, "mode")); }

}  // namespace

void BindLibraries() {
    g_library_folders = &GetModuleFolders;
    Function<&PyGetComputeMode>("get_compute_mode", "", docs::kGetComputeMode);
    Function<&PySetComputeMode>("set_compute_mode", "mode", docs::kSetComputeMode);
}

}  // namespace chainerx::python
