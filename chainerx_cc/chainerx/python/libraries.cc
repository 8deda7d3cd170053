// Libraries that backends load, and how they compute.

#include "chainerx/python/libraries.h"

#include <string>
#include <vector>

#include "chainerx/core/compute_mode.h"
#include "chainerx/core/dnn_settings.h"
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

// The function that gives the settings of the calling thread. Never freed: a kernel may ask at any time.
PyObject* g_get_dnn_settings = nullptr;

DnnSettings CallGetDnnSettings() {
    GilScope gil;
    PyRef result = Check(PyObject_CallNoArgs(g_get_dnn_settings));
    int use;
    int autotune;
    int deterministic;
    int fast_batch_normalization;
    long long max_workspace;  // NOLINT(runtime/int)
    if (!PyArg_ParseTuple(result.get(), "ppppL", &use, &autotune, &deterministic, &fast_batch_normalization,
                          &max_workspace)) {
        throw PythonError{};
    }
    return {use != 0, autotune != 0, deterministic != 0, fast_batch_normalization != 0, max_workspace};
}

void WarnOfDnn(const std::string& message) {
    GilScope gil;
    PyRef module = Check(PyImport_ImportModule("chainer.warnings"));
    PyRef category = Check(PyObject_GetAttrString(module.get(), "PerformanceWarning"));
    if (PyErr_WarnEx(category.get(), message.c_str(), 1) < 0) throw PythonError{};
}

int GetDnnVersion() { return g_dnn_version == nullptr ? 0 : g_dnn_version(); }
void PySetDnnSettings(PyObject* function) {
    g_get_dnn_settings = Py_NewRef(function);
    g_dnn_settings = &CallGetDnnSettings;
    g_warn_of_dnn = &WarnOfDnn;
}

}  // namespace

void BindLibraries() {
    g_library_folders = &GetModuleFolders;
    Function<&PyGetComputeMode>("get_compute_mode", "", docs::kGetComputeMode);
    Function<&PySetComputeMode>("set_compute_mode", "mode", docs::kSetComputeMode);
    Function<&GetDnnVersion>("_get_dnn_version", "", docs::kGetDnnVersion);
    Function<&PySetDnnSettings>("_set_dnn_settings", "function", docs::kSetDnnSettings);
}

}  // namespace chainerx::python
