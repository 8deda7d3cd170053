#include "chainerx_onnx/file_bytes.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <new>

#include "chainerx_onnx/error.h"

namespace chainerx::onnx {

FileBytes::FileBytes(const std::string& path) {
    std::ifstream file{path, std::ios::binary | std::ios::ate};
    if (!file) throw ModelError{"'", path, "' cannot be opened: ", std::strerror(errno)};
    auto size = file.tellg();
    if (size < 0 || !file.seekg(0)) throw ModelError{"'", path, "' cannot be read"};
    if (size == 0) return;
    size_ = static_cast<size_t>(size);
    // Not the file itself: another program may cut it meanwhile.
    void* data = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) throw std::bad_alloc{};
    data_ = static_cast<char*>(data);
    if (!file.read(data_, size)) {
        munmap(data_, size_);
        throw ModelError{"'", path, "' cannot be read"};
    }
}

FileBytes::~FileBytes() {
    if (data_ != nullptr) munmap(data_, size_);
}

void FileBytes::Forget(std::string_view part) {
    auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    auto begin = reinterpret_cast<uintptr_t>(part.data());
    uintptr_t first = (begin + page - 1) / page * page;
    uintptr_t last = (begin + part.size()) / page * page;
    if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

}  // namespace chainerx::onnx
