#include "chainerx/backends/cuda/library.h"

#include <unistd.h>

#include <cstdlib>

#include "chainerx/core/error.h"
#include "chainerx/core/library_folders.h"

namespace chainerx::cuda {
namespace {

std::string GetParent(const std::string& path) {
    size_t end = path.rfind('/');
    return end == std::string::npos ? "." : path.substr(0, end);
}

// This library is in PACKAGES/chainerx/backends; in a build folder, in FOLDER/backends.
std::vector<std::string> GetFolders() {
    std::vector<std::string> folders;
    Dl_info info;
    if (dladdr(reinterpret_cast<void*>(&GetFolders), &info) != 0 && info.dli_fname != nullptr) {
        std::string parent = GetParent(GetParent(info.dli_fname));
        folders = {parent, GetParent(parent)};
    }
    if (g_library_folders != nullptr) {
        for (std::string& folder : g_library_folders()) folders.push_back(std::move(folder));
    }
    return folders;
}

void* Load(const std::vector<std::string>& files, std::string* problems) {
    auto open = [problems](const std::string& file) {
        void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (handle == nullptr) *problems += std::string{problems->empty() ? "" : "; "} + dlerror();
        return handle;
    };
    for (const std::string& folder : GetFolders()) {
        for (const std::string& file : files) {
            std::string path = folder + "/" + file;
            if (access(path.c_str(), F_OK) != 0) continue;
            if (void* handle = open(path)) return handle;
        }
    }
    for (const std::string& file : files) {
        if (void* handle = open(file.substr(file.rfind('/') + 1))) return handle;
    }
    return nullptr;
}

}  // namespace

Library::Library(const char* name, std::vector<std::string> files, const char* packages)
    : name_{name}, packages_{packages} {
    const char* variable = std::getenv("CHAINERX_CUDA_LIBRARIES");
    std::string use = variable == nullptr || *variable == '\0' ? "auto" : variable;
    if (use != "auto" && use != "always" && use != "never") {
        throw ValueError{"the environment variable CHAINERX_CUDA_LIBRARIES must be 'auto', 'always' or 'never', not '",
                         use, "'"};
    }
    if (use == "never") {
        problems_ = "CHAINERX_CUDA_LIBRARIES is 'never'";
        return;
    }
    is_required_ = use == "always";
    handle_ = Load(files, &problems_);
    if (handle_ == nullptr) Refuse(problems_);
}

void Library::Require(const char* what) const {
    if (handle_ == nullptr) throw BackendError{what, " need ", name_, ", which ", Explain(problems_)};
}

void Library::Refuse(const std::string& reason) {
    handle_ = nullptr;
    if (is_required_) {
        throw BackendError{"CHAINERX_CUDA_LIBRARIES is 'always', but ", name_, " ", Explain(reason)};
    }
}

std::string Library::Explain(const std::string& reason) const {
    return std::string{"cannot be loaded: \"pip install "} + packages_ +
           "\" installs it, and \"pip install 'chainer[cuda13x]'\" all that the CUDA backend uses; " + reason;
}

void* Library::Find(const char* symbol) const {
    void* function = dlsym(handle_, symbol);
    if (function == nullptr) throw BackendError{"this version of ", name_, " has no function ", symbol};
    return function;
}

}  // namespace chainerx::cuda
