#pragma once

#include <cstdint>
#include <string>

namespace chainerx::onnx {

// A regular file that is open for reading. Whatever becomes of its name, this is the file that was checked.
class OpenFile {
public:
    // Raise ModelError, which begins with the name.
    static OpenFile At(const std::string& path);
    // A file beneath a folder. Links are not followed on the way, and the file must have no other name, which could
    // be outside of the folder.
    static OpenFile Beneath(const std::string& folder, const std::string& location);

    OpenFile(OpenFile&& other) noexcept : fd_{other.fd_}, size_{other.size_} { other.fd_ = -1; }
    OpenFile& operator=(OpenFile&&) = delete;
    ~OpenFile();

    int64_t size() const { return size_; }
    // Copies a part of the file, which must be inside of it. Holes take no time, and no memory where `out` is whole
    // pages.
    void Read(int64_t offset, char* out, int64_t bytes) const;

private:
    OpenFile(int fd, int64_t size) : fd_{fd}, size_{size} {}

    int64_t FindData(int64_t at, int64_t end) const;
    int64_t FindHole(int64_t at, int64_t end) const;

    int fd_;
    int64_t size_;
};

}  // namespace chainerx::onnx
