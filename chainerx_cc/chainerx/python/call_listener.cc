#include "chainerx/python/call_listener.h"

#include <cstring>
#include <iterator>
#include <memory>
#include <utility>

#include "chainerx/python/object.h"

namespace chainerx::python {

void CallListener::Start(PyObject* self, PyObject* on_call, PyObject* on_builtin, PyObject* on_warning) {
    for (PyObject* callback : {on_call, on_builtin, on_warning}) {
        if (PyCallable_Check(callback) == 0) ThrowTypeError("expected functions, not %s", Py_TYPE(callback)->tp_name);
    }
    on_call_ = PyRef::Borrow(on_call);
    on_builtin_ = PyRef::Borrow(on_builtin);
    on_warning_ = PyRef::Borrow(on_warning);
    PyEval_SetProfile(&OnEvent, self);
}

void CallListener::Stop() {
    PyEval_SetProfile(nullptr, nullptr);
    on_call_ = on_builtin_ = on_warning_ = PyRef{};
}

void CallListener::ForgetProgram() {
    for (auto it = codes_.begin(); it != codes_.end();) {
        it = it->second.answer == kProgram ? codes_.erase(it) : std::next(it);
    }
}

int CallListener::OnEvent(PyObject* self, PyFrameObject* frame, int event, PyObject* arg) {
    if (event != PyTrace_CALL && event != PyTrace_C_CALL) return 0;
    return Guard(-1, [&] {
        CallListener& listener = *ValueOf<std::shared_ptr<CallListener>>(self);
        try {
            event == PyTrace_CALL ? listener.OnCall(frame) : listener.OnBuiltin(frame, arg);
        } catch (...) {
            listener.Stop();  // as sys.setprofile does: it would fail at each call
            throw;
        }
        return 0;
    });
}

const CallListener::Code* CallListener::Find(PyObject* code) const {
    auto it = codes_.find(code);
    return it == codes_.end() ? nullptr : &it->second;
}

void CallListener::OnCall(PyFrameObject* frame) {
    PyRef code{reinterpret_cast<PyObject*>(PyFrame_GetCode(frame))};
    if (Find(code.get()) != nullptr) return;
    PyRef callback = on_call_;  // stays alive if it stops the listener
    PyRef result = Check(PyObject_CallOneArg(callback.get(), reinterpret_cast<PyObject*>(frame)));
    long answer = PyLong_AsLong(result.get());  // NOLINT(google-runtime-int): Python's type
    if (answer == -1 && PyErr_Occurred() != nullptr) throw PythonError{};
    if (answer == kTellAgain) return;
    PyObject* key = code.get();
    codes_.insert({key, Code{std::move(code), static_cast<Answer>(answer)}});
}

void CallListener::OnBuiltin(PyFrameObject* frame, PyObject* function) {
    PyRef code{reinterpret_cast<PyObject*>(PyFrame_GetCode(frame))};
    const Code* known = Find(code.get());
    if (known != nullptr && known->answer == kProgram) {
        PyRef callback = on_builtin_;
        Check(PyObject_CallOneArg(callback.get(), function));
    } else if (PyCFunction_Check(function) &&
               std::strcmp(reinterpret_cast<PyCFunctionObject*>(function)->m_ml->ml_name, "warn") == 0) {
        PyRef callback = on_warning_;
        Check(PyObject_CallNoArgs(callback.get()));
    }
}

}  // namespace chainerx::python
