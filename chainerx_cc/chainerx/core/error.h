#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <ostream>
#include <stdexcept>
#include <string>

namespace chainerx {

namespace internal {

// A value of a message, which streams take. Without its type, so that code for messages is compiled once, and not for
// each combination of types.
class MessagePart {
public:
    MessagePart(const char* text) : value_{text}, write_{&WriteText} {}  // NOLINT(runtime/explicit)
    template <class T>
    MessagePart(const T& value)  // NOLINT(runtime/explicit)
        : value_{&value}, write_{[](std::ostream& os, const void* v) { os << *static_cast<const T*>(v); }} {}

    void Write(std::ostream& os) const { write_(os, value_); }

private:
    static void WriteText(std::ostream& os, const void* text);

    const void* value_;
    void (*write_)(std::ostream&, const void*);
};

std::string ConcatParts(const MessagePart* parts, size_t n);

template <class... Args>
std::string Concat(const Args&... args) {
    const MessagePart parts[] = {args...};
    return ConcatParts(parts, sizeof...(Args));
}

}  // namespace internal

// Base of all errors that ChainerX raises. The arguments are streamed into the message.
class ChainerxError : public std::runtime_error {
public:
    template <class... Args>
    explicit ChainerxError(const Args&... args) : runtime_error{internal::Concat(args...)} {}
};

#define CHAINERX_DEFINE_ERROR(Name)                                    \
    class Name : public ChainerxError {                                \
    public:                                                            \
        template <class... Args>                                       \
        explicit Name(const Args&... args) : ChainerxError{args...} {} \
    }

CHAINERX_DEFINE_ERROR(ContextError);
CHAINERX_DEFINE_ERROR(BackendError);
CHAINERX_DEFINE_ERROR(DeviceError);
CHAINERX_DEFINE_ERROR(DimensionError);
CHAINERX_DEFINE_ERROR(DtypeError);
CHAINERX_DEFINE_ERROR(NotImplementedError);
CHAINERX_DEFINE_ERROR(GradientError);
CHAINERX_DEFINE_ERROR(GradientCheckError);
CHAINERX_DEFINE_ERROR(IndexError);
CHAINERX_DEFINE_ERROR(ValueError);
CHAINERX_DEFINE_ERROR(TypeError);

#undef CHAINERX_DEFINE_ERROR

// Memory that a device does not have.
class MemoryError : public std::bad_alloc {
public:
    // `use`: what the device knows about its use of memory.
    MemoryError(size_t bytes, const std::string& device, const std::string& use = "")
        : text_{std::make_shared<const std::string>(internal::Concat("cannot allocate ", bytes,
                                                                     " bytes of memory on device '", device, "'",
                                                                     use.empty() ? "" : ": ", use))} {}
    const char* what() const noexcept override { return text_->c_str(); }

private:
    std::shared_ptr<const std::string> text_;  // copies of exceptions must not throw
};

}  // namespace chainerx
