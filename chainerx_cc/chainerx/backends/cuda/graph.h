#pragma once

namespace chainerx {
class Device;
}  // namespace chainerx

namespace chainerx::cuda {

// Whether the calling thread records work of the device, in place of submitting it.
bool IsRecording(const Device& device) noexcept;

}  // namespace chainerx::cuda
