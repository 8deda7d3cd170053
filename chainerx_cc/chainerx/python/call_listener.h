#pragma once

#include <Python.h>

#include <unordered_map>

#include "chainerx/python/common.h"

namespace chainerx::python {

// Tells Python of the calls of a thread, like sys.setprofile, but not of those that do not concern it. A step makes
// hundreds of calls, nearly all of functions that are known already, and Python would take longer to look at them than
// to run them.
class CallListener {
public:
    // What a callback answers about the code that is called.
    enum Answer { kTellAgain = 0, kTrusted = 1, kProgram = 2 };

    // Starts or goes on. `on_call(frame)` is called with the frame of each call of code of which it has not answered
    // kTrusted or kProgram, `on_builtin(function)` before code of the program calls a function in C, and
    // `on_warning()` before other code calls one of the name `warn`. `self` is the Python object of the listener.
    void Start(PyObject* self, PyObject* on_call, PyObject* on_builtin, PyObject* on_warning);
    // Ends or interrupts.
    void Stop();
    // Forgets which code is the program's, so that it is told again.
    void ForgetProgram();

private:
    struct Code {
        PyRef code;  // kept alive, as another one could get its address
        Answer answer;
    };

    static int OnEvent(PyObject* self, PyFrameObject* frame, int event, PyObject* arg);
    void OnCall(PyFrameObject* frame);
    void OnBuiltin(PyFrameObject* frame, PyObject* function);
    const Code* Find(PyObject* code) const;

    std::unordered_map<PyObject*, Code> codes_;
    PyRef on_call_, on_builtin_, on_warning_;  // only meanwhile, as they may refer to what has the listener
};

}  // namespace chainerx::python
