#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <string>

#include "chainerx/backends/native/native_backend.h"
#include "chainerx/core/array.h"
#include "chainerx/core/blocking.h"
#include "chainerx/core/context.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/capture.h"
#include "chainerx/python/core_types.h"
#include "chainerx/python/device_group.h"
#include "chainerx/python/error.h"
#include "chainerx/python/libraries.h"
#include "chainerx/python/means.h"
#include "chainerx/python/ndarray.h"
#include "chainerx/python/onnx.h"
#include "chainerx/python/stream.h"

namespace py = pybind11;

namespace chainerx::python {
namespace {

using namespace py::literals;  // NOLINT

PyList ListOps() {
    Backend& native = GetGlobalDefaultContext().GetBackend("native");
    py::list out;
    for (const FunctionInfo& info : Functions()) {
        if (info.family == nullptr) continue;
        const Routine& op = info.routine;
        py::list kernels = py::str(op.kernels).attr("split")();
        bool complete = true;
        for (const py::handle& name : kernels) {
            bool found = false;
            for (const KernelSlotBase* slot : KernelSlotBase::All()) {
                found = found || (slot->name() == name.cast<std::string>() && native.FindKernel(*slot) != nullptr);
            }
            complete = complete && found;
        }
        out.append(py::dict("name"_a = op.name, "family"_a = info.family, "signature"_a = op.signature,
                            "is_method"_a = op.is_method, "kernels"_a = kernels, "native"_a = complete));
    }
    return PyRef{out.release().ptr()};
}

// The names of methods begin with that of their class.
PyDict ListTypes() {
    py::dict out;
    for (const FunctionInfo& info : Functions()) {
        std::string name = info.routine.name;
        out[py::str(info.owner == nullptr ? name : info.owner + ("." + name))] = py::cast(info.types());
    }
    return PyRef{out.release().ptr()};
}

PyList ListKernels(const std::string& backend) {
    Backend& b = GetGlobalDefaultContext().GetBackend(backend);
    py::list out;
    for (const KernelSlotBase* slot : KernelSlotBase::All()) {
        out.append(py::make_tuple(slot->name(), b.FindKernel(*slot) != nullptr));
    }
    return PyRef{out.release().ptr()};
}

// (core type, reason, whether products of float32 do not depend on where blocks begin)
PyTuple GetBlasCore() {
    native::BlasCore core = native::GetBlasCore();
    return PyRef{py::make_tuple(core.type, core.reason, core.has_one_order).release().ptr()};
}

int64_t CountLiveArrays() { return ArrayBody::GetLiveCount(); }

void BindModule() {
    Function<&ListOps>("_ops", "", "What the module knows about each op.");
    Function<&ListTypes>("_types", "",
                         "The types of parameters and result of each function and method, for type stubs.");
    Function<&ListKernels>("_kernels", "backend", "(name, present) of each kernel of a backend.");
    Function<&CountLiveArrays>("_live_array_count", "", "Number of arrays alive in the process.");
    Function<&native::GetThreadCount>("_get_num_threads", "", "Threads that kernels may use.");
    Function<&GetBlasCore>("_get_blas_core", "",
                           "The type of processor OpenBLAS works for, why it is this one, and whether its products of "
                           "float32 have the same bits wherever blocks begin.");
    Function<&native::SetThreadCount>("_set_num_threads", "n", "Sets the number of threads that kernels may use.");
}

void AddFunctions(PyObject* module, std::vector<PyMethodDef>& defs) {
    defs.push_back({nullptr, nullptr, 0, nullptr});
    if (PyModule_AddFunctions(module, defs.data()) < 0) throw PythonError{};
}

void Init(py::module_& m) {
    m.attr("__version__") = CHAINERX_VERSION;
    InitErrors(m.ptr());
    InitConvert();
    // Lives as long as the process: arrays can outlive the interpreter's modules.
    SetGlobalDefaultContext(new Context{});
    g_blocking_hooks.enter = []() -> void* { return PyGILState_Check() != 0 ? PyEval_SaveThread() : nullptr; };
    g_blocking_hooks.leave = [](void* state) {
        try {
            PyEval_RestoreThread(static_cast<PyThreadState*>(state));
        } catch (...) {
            // The interpreter ends, and Python before 3.14 unwinds the stacks of other threads. The kernel's
            // caller needs an interpreter: the thread waits for the end of the process, as in Python 3.14.
            for (;;) pause();
        }
    };

    BindOps();
    BindAutograd();
    BindInterop();
    BindLibraries();
    BindDeviceGroups();
    BindDlpack();
    BindFunctionNode();
    BindNumpyViews();
    BindMeans();
    BindCoreTypes();
    BindOnnx();
    BindModule();
    InitNdarray(m.ptr());
    AddFunctions(m.ptr(), FunctionDefs());
    for (auto& [name, defs] : SubmoduleDefs()) AddFunctions(m.def_submodule(("_" + name).c_str()).ptr(), defs);
    AddCoreTypes(m.ptr());
    AddStreams(m.ptr());
    AddDeviceGroups(m.ptr());
    AddCapture(m.ptr());
    AddPlaces(m.ptr());
    AddOnnx(m.ptr());
    AddSubgraph(m.ptr());
}

}  // namespace
}  // namespace chainerx::python

PYBIND11_MODULE(_core, m) {
    try {
        chainerx::python::Init(m);
    } catch (const chainerx::python::PythonError&) {
        throw py::error_already_set{};
    }
}
