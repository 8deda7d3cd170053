#pragma once

// Declarations of operations that are not elementwise. The header of the family declares the C++ function, and the
// source file declares the Python function beside the definition:
//
//   CHAINERX_ROUTINE(Roll, "roll", "a, shift, axis=None", "", R"(
//   ... documentation ...
//   )");
//   Array Roll(const Array& a, const std::vector<int64_t>& shift, ...) { ... }
//
// The family's list (CHAINERX_<FAMILY>_ROUTINES at the end of the header) names the function once more. Bindings go
// through the lists and convert arguments by the types of the C++ parameters. X_OUT instead of X in a list adds a
// parameter `out` in Python, an array for the result.

namespace chainerx {

struct Routine {
    const char* name;       // in Python; "linalg.solve" is a function of the submodule linalg
    const char* signature;  // in Python. "x|a": an argument x that may also be given as a. "*xs": all arguments
    const char* kernels;    // that it calls itself, separated by blanks
    const char* doc;        // see python/doc.h
    bool is_method;         // of ndarray as well
};

#define CHAINERX_ROUTINE(function, name, signature, kernels, doc) \
    const Routine routines::function { name, signature, kernels, doc, false }
// The same for a method of ndarray, too.
#define CHAINERX_METHOD_ROUTINE(function, name, signature, kernels, doc) \
    const Routine routines::function { name, signature, kernels, doc, true }

// For the lists.
#define CHAINERX_DECLARE_ROUTINE(function) \
    namespace routines {                   \
    extern const Routine function;         \
    }

// The words for the values of an enum, in their order, in bindings and messages.
template <class Enum>
struct EnumWords;
#define CHAINERX_ENUM_WORDS(Enum, ...)                         \
    template <>                                                \
    struct EnumWords<Enum> {                                   \
        static constexpr const char* kWords[] = {__VA_ARGS__}; \
    }

}  // namespace chainerx
