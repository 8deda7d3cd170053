#include "chainerx/capture/byte_stream.h"

#include <cstring>

#include "chainerx/core/error.h"

namespace chainerx {

void ByteWriter::Number(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
    bytes_.push_back(static_cast<char>(value));
}

// The sign is the last bit, so that small negative numbers are short, too.
void ByteWriter::Integer(int64_t value) {
    auto bits = static_cast<uint64_t>(value);
    Number(value < 0 ? ~(bits << 1) : bits << 1);
}

void ByteWriter::Double(double value) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    for (int i = 0; i < 64; i += 8) bytes_.push_back(static_cast<char>(bits >> i));
}

void ByteWriter::Text(std::string_view text) {
    Number(text.size());
    Raw(text.data(), text.size());
}

uint64_t ByteReader::Number() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        auto byte = static_cast<uint8_t>(Raw(1)[0]);
        if (shift == 63 && byte > 1) break;
        value |= static_cast<uint64_t>(byte & 0x7f) << shift;
        if (byte < 0x80) return value;
    }
    throw ValueError{"a number has more than 64 bits"};
}

size_t ByteReader::Index(size_t count) {
    uint64_t value = Number();
    if (value >= count) throw ValueError{"there is no ", value, " among ", count};
    return static_cast<size_t>(value);
}

int64_t ByteReader::Integer() {
    uint64_t value = Number();
    return static_cast<int64_t>((value & 1) != 0 ? ~(value >> 1) : value >> 1);
}

double ByteReader::Double() {
    std::string_view raw = Raw(8);
    uint64_t bits = 0;
    for (size_t i = 0; i < 8; ++i) bits |= static_cast<uint64_t>(static_cast<uint8_t>(raw[i])) << (8 * i);
    double value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
}

std::string_view ByteReader::Raw(uint64_t bytes) {
    if (bytes > rest_.size()) throw ValueError{"it ends too early"};
    std::string_view raw = rest_.substr(0, static_cast<size_t>(bytes));
    rest_.remove_prefix(static_cast<size_t>(bytes));
    return raw;
}

}  // namespace chainerx
