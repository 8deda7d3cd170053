#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace chainerx::onnx {

// The bytes of a file, in pages of their own that can be given back one after the other.
class FileBytes {
public:
    // Raises ModelError if the file cannot be read.
    explicit FileBytes(const std::string& path);
    ~FileBytes();
    FileBytes(const FileBytes&) = delete;
    FileBytes& operator=(const FileBytes&) = delete;

    std::string_view view() const { return {data_, size_}; }

    // Gives the memory of a part back, whose contents are undefined from then on.
    void Forget(std::string_view part);

private:
    char* data_{nullptr};
    size_t size_{0};
};

}  // namespace chainerx::onnx
