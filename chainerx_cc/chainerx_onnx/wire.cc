#include "chainerx_onnx/wire.h"

#include <cstring>

namespace chainerx::onnx {

namespace {

bool IsUtf8(std::string_view text) {
    const auto* p = reinterpret_cast<const uint8_t*>(text.data());
    const uint8_t* end = p + text.size();
    while (p != end) {
        uint8_t lead = *p++;
        if (lead < 0x80) continue;
        int rest = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
        if (lead < 0xc2 || lead > 0xf4 || end - p < rest) return false;
        uint32_t code = lead & (0x3fU >> rest);
        for (; rest > 0; --rest, ++p) {
            if ((*p & 0xc0) != 0x80) return false;
            code = code << 6 | (*p & 0x3fU);
        }
        // The shortest form, no halves of pairs, and no more than Unicode has
        bool is_long = (lead >= 0xf0 && code < 0x10000) || (lead >= 0xe0 && lead < 0xf0 && code < 0x800);
        if (is_long || (code >= 0xd800 && code < 0xe000) || code > 0x10ffff) return false;
    }
    return true;
}

}  // namespace

bool WireReader::Next() {
    if (is_pending_) Skip();
    if (at_ == end_) return false;
    uint64_t key = ReadVarint();
    if (key >> 3 == 0 || key >> 32 != 0) throw ModelError{"a field has the number ", key >> 3};
    auto type = static_cast<uint8_t>(key & 7);
    if (type == 3 || type == 4) throw ModelError{"field ", key >> 3, " is a group, which is not supported"};
    if (type > 5) throw ModelError{"field ", key >> 3, " has the unknown wire type ", int{type}};
    field_ = static_cast<uint32_t>(key >> 3);
    type_ = static_cast<WireType>(type);
    is_pending_ = true;
    return true;
}

uint64_t WireReader::Varint() {
    Expect(WireType::kVarint);
    return ReadVarint();
}

int32_t WireReader::Int32() {
    auto value = static_cast<int64_t>(Varint());
    if (value < INT32_MIN || value > INT32_MAX) throw ModelError{"field ", field_, " has more than 32 bits: ", value};
    return static_cast<int32_t>(value);
}

float WireReader::Float() {
    Expect(WireType::kFixed32);
    return ReadFixed<float>();
}

double WireReader::Double() {
    Expect(WireType::kFixed64);
    return ReadFixed<double>();
}

std::string_view WireReader::Bytes() {
    Expect(WireType::kBytes);
    return ReadBytes();
}

std::string WireReader::String() {
    std::string_view text = Bytes();
    if (!IsUtf8(text)) throw ModelError{"field ", field_, " is no text"};
    return std::string{text};
}

void WireReader::Expect(WireType type) {
    if (type_ != type) throw ModelError{"field ", field_, " has the wire type ", static_cast<int>(type_)};
    is_pending_ = false;
}

void WireReader::Skip() {
    switch (type_) {
        case WireType::kVarint:
            ReadVarint();
            break;
        case WireType::kFixed64:
            ReadFixed<uint64_t>();
            break;
        case WireType::kBytes:
            ReadBytes();
            break;
        case WireType::kFixed32:
            ReadFixed<uint32_t>();
            break;
    }
    is_pending_ = false;
}

uint64_t WireReader::ReadVarint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
        if (at_ == end_) throw ModelError{"the data ends within a number"};
        auto byte = static_cast<uint8_t>(*at_++);
        if (shift == 63 && byte > 1) break;
        value |= static_cast<uint64_t>(byte & 0x7f) << shift;
        if (byte < 0x80) return value;
    }
    throw ModelError{"a number has more than 64 bits"};
}

std::string_view WireReader::ReadBytes() {
    uint64_t size = ReadVarint();
    if (size > static_cast<uint64_t>(end_ - at_)) {
        throw ModelError{"field ", field_, " has ", size, " bytes, and ", end_ - at_, " are left"};
    }
    std::string_view bytes{at_, static_cast<size_t>(size)};
    at_ += size;
    return bytes;
}

template <class T>
T WireReader::ReadFixed() {
    if (static_cast<size_t>(end_ - at_) < sizeof(T)) throw ModelError{"the data ends within a number"};
    T value;
    std::memcpy(&value, at_, sizeof(T));
    at_ += sizeof(T);
    return value;
}

template float WireReader::ReadFixed<float>();
template double WireReader::ReadFixed<double>();

}  // namespace chainerx::onnx
