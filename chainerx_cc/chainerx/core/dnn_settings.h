#pragma once

#include <cstdint>
#include <string>

namespace chainerx {

// How backends may use libraries of kernels for networks, such as cuDNN.
struct DnnSettings {
    bool use{true};
    bool autotune{false};                  // measure which algorithm is the fastest
    bool deterministic{false};             // only algorithms that give the same bits each time
    bool fast_batch_normalization{false};  // also by kernels with a smaller range of values
    int64_t max_workspace{256 << 20};      // bytes of memory that an algorithm may take for itself, if they are free
};

// The settings of the calling thread. A language binding installs this. Not inline: the Python module, which hides its
// symbols, would have a variable of its own.
extern DnnSettings (*g_dnn_settings)();

// The version of the library that a backend has, 0 without one. The backend installs this.
extern int (*g_dnn_version)();

// Tells the program that something is slow for want of such a library, or of a function of one. A language binding
// installs this.
extern void (*g_warn_of_dnn)(const std::string& message);

inline DnnSettings GetDnnSettings() { return g_dnn_settings == nullptr ? DnnSettings{} : g_dnn_settings(); }

}  // namespace chainerx
