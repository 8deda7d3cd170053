#pragma once

// What goes between the nodes of a model, and into and out of it.

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/intrusive_ptr.h"
#include "chainerx/core/macro.h"

namespace chainerx::onnx {

class OtherValue;

// An array, or strings, a sequence or a map; or nothing, as for an optional value that is empty. Copies share it.
class Value {
public:
    Value() noexcept = default;
    Value(Array array) noexcept : array_{std::move(array)} {}  // NOLINT(runtime/explicit)
    template <class Other>
    static Value Of(Other other);
    // Most values of a run are arrays, which are set often.
    Value& operator=(Array&& array) noexcept {
        array_ = std::move(array);
        if (CHAINERX_UNLIKELY(other_)) other_ = nullptr;
        return *this;
    }

    explicit operator bool() const noexcept { return array_ || other_; }
    // No array if it is something else.
    const Array& array() const noexcept { return array_; }
    // What it is, if it is this.
    template <class Other>
    const Other* As() const;
    // "nothing", "an array", "strings", "a sequence" or "a map".
    const char* KindName() const;

private:
    Array array_;
    IntrusivePtr<const OtherValue> other_;
};

using Values = std::vector<Value>;

// An array of strings in UTF-8.
struct Strings {
    Shape shape;
    std::vector<std::string> items;
};

struct Sequence {
    Values items;
};

// A vector of keys, which are integers or strings, and one of the values.
struct Map {
    Value keys;
    Value values;
};

// What a Value has that is no array.
class OtherValue final : public RefCounted {
public:
    template <class Other>
    explicit OtherValue(Other other) : content{std::move(other)} {}
    static void Destroy(const OtherValue* value) noexcept { delete value; }

    std::variant<Strings, Sequence, Map> content;
};

template <class Other>
Value Value::Of(Other other) {
    Value out;
    out.other_ = IntrusivePtr<const OtherValue>{new OtherValue{std::move(other)}};
    return out;
}

template <class Other>
const Other* Value::As() const {
    return other_ ? std::get_if<Other>(&other_->content) : nullptr;
}

}  // namespace chainerx::onnx
