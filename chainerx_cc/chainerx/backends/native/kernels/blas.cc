#include "chainerx/backends/native/kernels/blas.h"

#include <dlfcn.h>

#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>

namespace chainerx::native {
namespace {

constexpr const char* kCoreTypeVariable = "OPENBLAS_CORETYPE";

// An environment variable, changed during the life of this object.
class ScopedVariable {
public:
    ScopedVariable(const char* name, const char* value) : name_{name} {
        if (const char* old = std::getenv(name)) old_ = old;
        setenv(name, value, 1);
    }
    ~ScopedVariable() {
        if (old_) {
            setenv(name_, old_->c_str(), 1);
        } else {
            unsetenv(name_);
        }
    }
    ScopedVariable(const ScopedVariable&) = delete;
    ScopedVariable& operator=(const ScopedVariable&) = delete;

private:
    const char* name_;
    std::optional<std::string> old_;
};

// The path of OpenBLAS: in the folder of the library or program that contains this function.
std::string LibraryPath() {
    std::string path;
    Dl_info info;
    if (dladdr(reinterpret_cast<void*>(&GetBlas), &info) != 0 && info.dli_fname != nullptr) path = info.dli_fname;
    size_t slash = path.rfind('/');
    return (slash == std::string::npos ? "" : path.substr(0, slash + 1)) + CHAINERX_OPENBLAS_FILE;
}

// A function of a library.
class Symbol {
public:
    Symbol(void* library, const std::string& name) : address_{dlsym(library, (CHAINERX_BLAS_PREFIX + name).c_str())} {
        if (address_ == nullptr) throw std::runtime_error{std::string{"OpenBLAS cannot be used: "} + dlerror()};
    }
    template <class Function>
    operator Function*() const {  // NOLINT(runtime/explicit)
        return reinterpret_cast<Function*>(address_);
    }

private:
    void* address_;
};

template <class T>
Lapack<T> FindLapack(void* library, const std::string& prefix) {
    auto find = [&](const char* name) { return Symbol{library, prefix + name + "_"}; };
    return {find("getrf"), find("getrs"),
            find("getri"), find("gesdd"),
            find("geqrf"), find(kIsReal<T> ? "orgqr" : "ungqr"),
            find("potrf"), find(kIsReal<T> ? "syevd" : "heevd")};
}

Blas Load() {
    const char* user = std::getenv(kCoreTypeVariable);
    bool is_set = user != nullptr && *user != '\0';
    std::string choice = is_set ? "" : ChooseCoreType(GetCpuFeatures());
    std::optional<ScopedVariable> variable;
    if (!choice.empty()) variable.emplace(kCoreTypeVariable, choice.c_str());
    ScopedVariable threads{"OPENBLAS_NUM_THREADS", "1"};
    void* library = dlopen(LibraryPath().c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw std::runtime_error{std::string{"OpenBLAS cannot be loaded: "} + dlerror()};
    Blas blas;
    blas.cblas_sgemm = Symbol{library, "cblas_sgemm"};
    blas.cblas_dgemm = Symbol{library, "cblas_dgemm"};
    blas.cblas_cgemm = Symbol{library, "cblas_cgemm"};
    blas.cblas_zgemm = Symbol{library, "cblas_zgemm"};
    blas.cblas_sdot = Symbol{library, "cblas_sdot"};
    blas.cblas_ddot = Symbol{library, "cblas_ddot"};
    blas.slapack = FindLapack<float>(library, "s");
    blas.dlapack = FindLapack<double>(library, "d");
    blas.clapack = FindLapack<std::complex<float>>(library, "c");
    blas.zlapack = FindLapack<std::complex<double>>(library, "z");
    char* (*get_core_type)() = Symbol{library, "openblas_get_corename"};
    blas.core_type = get_core_type();
    if (is_set) {
        blas.reason = std::string{kCoreTypeVariable} + "=" + user;
    } else {
        // OpenBLAS refuses types that the processor cannot be.
        blas.reason = blas.core_type == choice ? "chosen by ChainerX" : "detected by OpenBLAS";
    }
    return blas;
}

}  // namespace

const Blas& GetBlas() {
    static const Blas blas = Load();
    return blas;
}

CpuFeatures GetCpuFeatures() {
    CpuFeatures cpu{GetIsa(), false};
#if CHAINERX_ISA_X86
    __builtin_cpu_init();
    cpu.amx = __builtin_cpu_supports("amx-tile") && __builtin_cpu_supports("amx-bf16");
#endif
    return cpu;
}

const char* ChooseCoreType([[maybe_unused]] const CpuFeatures& cpu) {
#if CHAINERX_ISA_X86
    if (cpu.isa == Isa::kV4) return cpu.amx ? "SapphireRapids" : "SkylakeX";
#endif
    return "";
}

bool HasOneOrder(const std::string& core_type) {
    return core_type == "SkylakeX" || core_type == "Cooperlake" || core_type == "SapphireRapids";
}

}  // namespace chainerx::native
