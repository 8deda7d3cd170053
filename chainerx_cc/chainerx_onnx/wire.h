#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "chainerx_onnx/error.h"

namespace chainerx::onnx {

// The fields of a message in the wire format of Protocol Buffers. Reads within its bytes only, and copies none of them.
// Raises ModelError for anything that is not in the format.
//
//   for (WireReader r{bytes}; r.Next();) switch (r.field()) { case 1: name = r.String(); break; }
//
// A field whose value is not read is skipped.
class WireReader {
public:
    explicit WireReader(std::string_view bytes) : at_{bytes.data()}, end_{bytes.data() + bytes.size()} {}

    // Goes to the next field. False at the end.
    bool Next();
    uint32_t field() const { return field_; }

    // The value of the field. Each raises if the field has another wire type.
    uint64_t Varint();
    int64_t Int() { return static_cast<int64_t>(Varint()); }
    int32_t Int32();
    float Float();
    double Double();
    std::string_view Bytes();
    std::string String();  // raises if it is not in UTF-8

    // Appends the values of a repeated field of numbers, which may be packed or not, to a container.
    template <class Container>
    void Ints(Container* out) {
        Repeated(WireType::kVarint,
                 [&](WireReader& r) { out->push_back(static_cast<typename Container::value_type>(r.ReadVarint())); });
    }
    template <class Container>
    void Floats(Container* out) {
        Repeated(WireType::kFixed32, [&](WireReader& r) { out->push_back(r.ReadFixed<float>()); });
    }
    template <class Container>
    void Doubles(Container* out) {
        Repeated(WireType::kFixed64, [&](WireReader& r) { out->push_back(r.ReadFixed<double>()); });
    }

private:
    enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

    uint64_t ReadVarint();
    std::string_view ReadBytes();
    template <class T>
    T ReadFixed();
    void Expect(WireType type);
    void Skip();

    template <class F>
    void Repeated(WireType type, F&& read) {
        if (type_ == WireType::kBytes) {
            for (WireReader r{Bytes()}; r.at_ != r.end_;) read(r);
        } else {
            Expect(type);
            read(*this);
        }
    }

    const char* at_;
    const char* end_;
    uint32_t field_{0};
    WireType type_{WireType::kVarint};
    bool is_pending_{false};  // the value of the field is not read yet
};

}  // namespace chainerx::onnx
