#pragma once

#include <dlfcn.h>

#include <string>
#include <vector>

#include "chainerx/core/error.h"

namespace chainerx::cuda {

// A library of NVIDIA's that is loaded when it is first needed and stays. It is looked for beside ChainerX, in Python's
// folders of packages, where its wheel puts it, and then where the system looks.
//
// The environment variable CHAINERX_CUDA_LIBRARIES says whether to use such libraries: 'auto' (if they are there; the
// default), 'always' (BackendError if one is not) or 'never'.
class Library {
public:
    // `name`: for errors. `files`: names that it may have, with those in folders of wheels first.
    Library(const char* name, std::vector<std::string> files, const char* packages);

    // Whether to use it.
    bool IsAvailable() const { return handle_ != nullptr; }

    // Raises BackendError if it is not there or not to be used. `what`: for what it is needed.
    void Require(const char* what) const;

    // Does without it, for a reason; raises BackendError if it must be used.
    template <class... Args>
    void Refuse(const Args&... reason) {
        Refuse(internal::Concat(reason...));
    }

    // Raises BackendError if it has no such function.
    template <class F>
    void Get(F*& function, const char* symbol) const {
        function = reinterpret_cast<F*>(Find(symbol));
    }

private:
    void Refuse(const std::string& reason);
    // Says that it cannot be loaded, what would install it, and the reason.
    std::string Explain(const std::string& reason) const;
    void* Find(const char* symbol) const;

    const char* name_;
    const char* packages_;
    bool is_required_{false};
    void* handle_{};
    std::string problems_;
};

}  // namespace chainerx::cuda
