#pragma once

namespace chainerx::cuda {

// Makes a device the current one of the calling thread until PopDevice, by CUDA's driver. cudaSetDevice opens a context
// on the device that it is given, so going back by it would open one on a device that the program does not use: it
// takes memory there, in each process. Returns whether it worked; if not, calls of CUDA tell why.
bool PushDevice(int index) noexcept;
void PopDevice() noexcept;

}  // namespace chainerx::cuda
