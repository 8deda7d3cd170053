#include "chainerx_onnx/file_bytes.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <new>

#include "chainerx_onnx/error.h"
#include "chainerx_onnx/open_file.h"

namespace chainerx::onnx {
namespace {

// Of a message of protocol buffers. What is larger is external data.
constexpr int64_t kMostBytes = INT32_MAX;

}  // namespace

FileBytes::FileBytes(const std::string& path) {
    OpenFile file = OpenFile::At(path);
    if (file.size() > kMostBytes) throw ModelError{"'", path, "' is no ONNX model: it has more than 2 GiB"};
    if (file.size() == 0) return;
    size_ = static_cast<size_t>(file.size());
    // Not the file itself: another program may cut it meanwhile.
    void* data = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) throw std::bad_alloc{};
    data_ = static_cast<char*>(data);
    try {
        file.Read(0, data_, file.size());
    } catch (...) {
        munmap(data_, size_);
        throw;
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
