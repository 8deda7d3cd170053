#include "chainerx/core/backend_library.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <sstream>
#include <vector>

#include "chainerx/core/context.h"

namespace chainerx::internal {
namespace {

// Folders that may have a subfolder with backends, and the source of each.
struct SearchPath {
    std::vector<std::string> folders;
    std::string origin;
};

SearchPath GetSearchPath() {
    if (const char* variable = std::getenv("CHAINERX_PATH"); variable != nullptr && *variable != '\0') {
        SearchPath path{{}, "CHAINERX_PATH"};
        std::istringstream rest{variable};
        for (std::string folder; std::getline(rest, folder, ':');) {
            if (!folder.empty()) path.folders.push_back(folder);
        }
        return path;
    }
    const char* home = std::getenv("HOME");
    if (home == nullptr || *home == '\0') return {{}, "CHAINERX_PATH, which is not set"};
    return {{std::string{home} + "/.chainerx"}, "the default of CHAINERX_PATH, which is not set"};
}

// Other names could refer to files outside the folder.
bool IsFileName(const std::string& name) {
    return !name.empty() && name.find('/') == std::string::npos && name.find('\0') == std::string::npos;
}

// The folder of this library, where backends of ChainerX itself are installed.
std::string GetOwnFolder() {
    Dl_info info;
    if (dladdr(reinterpret_cast<void*>(&GetOwnFolder), &info) == 0 || info.dli_fname == nullptr) return ".";
    std::string file = info.dli_fname;
    size_t end = file.rfind('/');
    return end == std::string::npos ? "." : file.substr(0, end);
}

std::string FindLibrary(const std::string& name, const std::string& known) {
    SearchPath path = GetSearchPath();
    path.folders.push_back(GetOwnFolder());
    std::string searched;
    for (const std::string& folder : path.folders) {
        std::string file = folder + "/backends/" + name + ".so";
        if (IsFileName(name) && access(file.c_str(), F_OK) == 0) return file;
        searched += (searched.empty() ? "" : ", ") + file;
    }
    std::string text = "unknown backend '" + name + "' (available: " + known;
    text += "; searched for a library: " + searched + ", from " + path.origin + ", and beside ChainerX)";
    if (name == "cuda") text += "; a build of ChainerX with CHAINERX_BUILD_CUDA=1 has it";
    throw BackendError{text};
}

[[noreturn]] void ThrowUnusable(const std::string& file, const std::string& why) {
    throw BackendError{"the backend library ", file, " cannot be used: ", why};
}

}  // namespace

std::unique_ptr<Backend> LoadBackend(Context& context, const std::string& name, const std::string& known) {
    std::string file = FindLibrary(name, known);
    // Stays open, because objects that the library has made or registered refer to its code.
    void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        std::string error = dlerror();
        if (error.find("AbiVersion") != std::string::npos) {
            ThrowUnusable(file,
                          "it was compiled for another version of ChainerX; compile it again (this library has "
                          "ABI version " +
                                  std::to_string(kAbiVersion) + ")");
        }
        ThrowUnusable(file, error);
    }
    auto* create = reinterpret_cast<Backend* (*)(Context&)>(dlsym(library, "CreateBackend"));
    if (create == nullptr) ThrowUnusable(file, "it does not export the function CreateBackend");
    std::unique_ptr<Backend> backend;
    try {
        backend.reset(create(context));
    } catch (const std::exception& e) {
        ThrowUnusable(file, std::string{"CreateBackend failed: "} + e.what());
    } catch (...) {
        ThrowUnusable(file, "CreateBackend failed");
    }
    if (backend == nullptr) ThrowUnusable(file, "CreateBackend returned no backend");
    if (backend->name() != name) ThrowUnusable(file, "its backend has the name '" + backend->name() + "'");
    if (&backend->context() != &context) ThrowUnusable(file, "its backend belongs to another context");
    return backend;
}

}  // namespace chainerx::internal
