#pragma once

#include <string>

#include "chainerx/core/stream.h"
#include "chainerx/python/convert.h"

namespace chainerx::python {

// The value of a stream's object, several of which may stand for one stream.
struct StreamRef {
    StreamPtr stream;
};

PyObject* ToPython(StreamRef stream);

template <>
struct ResultType<StreamRef> {
    static std::string Text() { return "Stream"; }
};

void AddStreams(PyObject* module);

}  // namespace chainerx::python
