#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace chainerx {

// Values as bytes, the same on each machine: integers of variable length, numbers as their bits.
class ByteWriter {
public:
    void Number(uint64_t value);
    void Integer(int64_t value);
    void Double(double value);
    void Text(std::string_view text);
    void Raw(const void* data, size_t bytes) { bytes_.append(static_cast<const char*>(data), bytes); }
    const std::string& bytes() const { return bytes_; }

private:
    std::string bytes_;
};

// Reads what ByteWriter wrote. Raises ValueError where the bytes are others, and never reads beyond them.
class ByteReader {
public:
    explicit ByteReader(std::string_view bytes) : rest_{bytes} {}

    uint64_t Number();
    // One of the numbers 0 to `count` - 1.
    size_t Index(size_t count);
    int64_t Integer();
    double Double();
    bool Flag() { return Index(2) == 1; }
    std::string Text() { return std::string{Raw(Number())}; }
    std::string_view Raw(uint64_t bytes);
    std::string_view rest() const { return rest_; }

private:
    std::string_view rest_;
};

}  // namespace chainerx
