#include "chainerx_onnx/open_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

#include "chainerx_onnx/error.h"

namespace chainerx::onnx {
namespace {

// Opening a pipe would wait for its other end.
constexpr int kRead = O_RDONLY | O_CLOEXEC | O_NONBLOCK;

// The names of a path below a folder. Raises ModelError if it leads out of it.
std::vector<std::string> SplitLocation(const std::string& location) {
    std::vector<std::string> names;
    bool is_outside = location[0] == '/' || location.find('\0') != std::string::npos;
    for (size_t begin = 0; begin <= location.size();) {
        size_t end = std::min(location.find('/', begin), location.size());
        std::string name = location.substr(begin, end - begin);
        is_outside = is_outside || name == "..";
        if (!name.empty() && name != ".") names.push_back(name);
        begin = end + 1;
    }
    if (is_outside) throw ModelError{"its data is in '", location, "', outside of the folder of the model"};
    return names;
}

// Zeros. Whole pages of private memory are given back and are zero when they are used again.
void Clear(char* out, int64_t bytes) {
#ifdef __linux__
    auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    auto begin = reinterpret_cast<uintptr_t>(out);
    uintptr_t first = (begin + page - 1) / page * page;
    uintptr_t last = (begin + bytes) / page * page;
    if (first < last && madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED) == 0) {
        std::memset(out, 0, first - begin);
        std::memset(reinterpret_cast<void*>(last), 0, begin + bytes - last);
        return;
    }
#endif
    std::memset(out, 0, bytes);
}

}  // namespace

OpenFile OpenFile::At(const std::string& path) {
    int fd = open(path.c_str(), kRead);
    if (fd < 0) throw ModelError{"'", path, "' cannot be opened: ", std::strerror(errno)};
    struct stat status {};
    OpenFile file{fd, 0};
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) throw ModelError{"'", path, "' cannot be read"};
    file.size_ = status.st_size;
    return file;
}

OpenFile OpenFile::Beneath(const std::string& folder, const std::string& location) {
    std::vector<std::string> names = SplitLocation(location);
    OpenFile file{open(folder.c_str(), kRead | O_DIRECTORY), 0};
    for (size_t i = 0; i < names.size() && file.fd_ >= 0; ++i) {
        bool is_last = i + 1 == names.size();
        int fd = openat(file.fd_, names[i].c_str(), kRead | O_NOFOLLOW | (is_last ? 0 : O_DIRECTORY));
        close(file.fd_);
        file.fd_ = fd;
    }
    struct stat status {};
    if (file.fd_ < 0 || fstat(file.fd_, &status) != 0 || !S_ISREG(status.st_mode)) {
        throw ModelError{"its data is in '", location, "', which is not a file beside the model (links do not count)"};
    }
    if (status.st_nlink != 1) {
        throw ModelError{"its data is in '", location, "', a file of ", static_cast<int64_t>(status.st_nlink),
                         " names, which may be outside of the folder: copy it"};
    }
    file.size_ = status.st_size;
    return file;
}

OpenFile::~OpenFile() {
    if (fd_ >= 0) close(fd_);
}

int64_t OpenFile::FindData(int64_t at, int64_t end) const {
#ifdef SEEK_DATA
    off_t data = lseek(fd_, at, SEEK_DATA);
    if (data >= 0) return std::min<int64_t>(data, end);
    struct stat status {};
    // Nothing but a hole is left, unless the file was cut meanwhile.
    if (errno == ENXIO && fstat(fd_, &status) == 0 && status.st_size >= end) return end;
#endif
    return at;
}

int64_t OpenFile::FindHole(int64_t at, int64_t end) const {
#ifdef SEEK_HOLE
    off_t hole = lseek(fd_, at, SEEK_HOLE);
    if (hole > at) return std::min<int64_t>(hole, end);
#endif
    return end;
}

void OpenFile::Read(int64_t offset, char* out, int64_t bytes) const {
    constexpr int64_t kMost = int64_t{1} << 30;
    int64_t end = offset + bytes;
    out -= offset;
    while (offset < end) {
        int64_t data = FindData(offset, end);
        Clear(out + offset, data - offset);
        offset = data;
        int64_t hole = offset < end ? FindHole(offset, end) : end;
        while (offset < hole) {
            ssize_t n = pread(fd_, out + offset, std::min(hole - offset, kMost), offset);
            if (n < 0 && errno == EINTR) continue;
            if (n <= 0) throw ModelError{"the file cannot be read: ", n < 0 ? std::strerror(errno) : "it was cut"};
            offset += n;
        }
    }
}

}  // namespace chainerx::onnx
