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
#include "chainerx/python/core_types.h"
#include "chainerx/python/error.h"
#include "chainerx/python/ndarray.h"

namespace py = pybind11;

namespace chainerx::python {
namespace {

py::list ListOps() {
    Backend& native = GetGlobalDefaultContext().GetBackend("native");
    py::list out;
    for (const FunctionInfo& info : Functions()) {
        if (info.family == nullptr) continue;
        const Routine& op = info.routine;
        py::dict entry;
        entry["name"] = op.name;
        entry["family"] = info.family;
        entry["signature"] = op.signature;
        entry["is_method"] = op.is_method;
        py::list kernels = py::str(op.kernels).attr("split")();
        entry["kernels"] = kernels;
        bool complete = true;
        for (const py::handle& name : kernels) {
            bool found = false;
            for (const KernelSlotBase* slot : KernelSlotBase::All()) {
                found = found || (slot->name() == name.cast<std::string>() && native.FindKernel(*slot) != nullptr);
            }
            complete = complete && found;
        }
        entry["native"] = complete;
        out.append(entry);
    }
    return out;
}

// The names of methods begin with "ndarray.".
py::dict ListTypes() {
    py::dict out;
    for (const FunctionInfo& info : Functions()) {
        bool is_only_method = std::strncmp(info.routine.signature, "self", 4) == 0;
        out[py::str((is_only_method ? "ndarray." : "") + std::string{info.routine.name})] = py::cast(info.types());
    }
    return out;
}

py::list ListKernels(const std::string& backend) {
    Backend& b = GetGlobalDefaultContext().GetBackend(backend);
    py::list out;
    for (const KernelSlotBase* slot : KernelSlotBase::All()) {
        out.append(py::make_tuple(slot->name(), b.FindKernel(*slot) != nullptr));
    }
    return out;
}

void AddFunctions(const py::module_& m, std::vector<PyMethodDef>& defs) {
    defs.push_back({nullptr, nullptr, 0, nullptr});
    if (PyModule_AddFunctions(m.ptr(), defs.data()) < 0) throw py::error_already_set{};
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
    BindDlpack();
    InitFunctionNode(m);
    InitNdarray(m.ptr());
    AddFunctions(m, FunctionDefs());
    AddFunctions(m.def_submodule("_linalg"), LinalgDefs());
    InitCoreTypes(m);
    InitNumpyViews(m);
    m.def("_ops", &ListOps, "What the module knows about each op.");
    m.def("_types", &ListTypes, "The types of parameters and result of each function and method, for type stubs.");
    m.def("_kernels", &ListKernels, "(name, present) of each kernel of a backend.");
    m.def("_live_array_count", &ArrayBody::GetLiveCount, "Number of arrays alive in the process.");
    m.def("_get_num_threads", &native::GetThreadCount);
    m.def("_set_num_threads", &native::SetThreadCount);
}

}  // namespace
}  // namespace chainerx::python

PYBIND11_MODULE(_core, m) {
    py::register_exception_translator([](std::exception_ptr p) {
        if (!p) return;
        try {
            std::rethrow_exception(p);
        } catch (const chainerx::ChainerxError&) {
            chainerx::python::SetPythonError();
        } catch (const chainerx::python::PythonError&) {
            // is set
        }
    });
    try {
        chainerx::python::Init(m);
    } catch (const chainerx::python::PythonError&) {
        throw py::error_already_set{};
    }
}
