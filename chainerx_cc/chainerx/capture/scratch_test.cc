#include "chainerx/capture/scratch.h"

#include <gtest/gtest.h>

#include "chainerx/testing/context_fixture.h"

namespace chainerx {
namespace {

class ScratchTest : public testing::ContextFixture {};

constexpr size_t kBytes = size_t{1} << 16;

TEST_F(ScratchTest, GradientsLieInIt) {
    Scratch scratch;
    Device& device = GetDefaultDevice();
    const void* memory = scratch.Get(device, 2 * kBytes, true)->data();
    StoragePtr gradient = scratch.MakeGradient(device, kBytes, kBytes);
    EXPECT_EQ(gradient->data(), static_cast<const char*>(memory) + kBytes);
    EXPECT_EQ(gradient->bytes(), kBytes);
    gradient = nullptr;
    EXPECT_EQ(scratch.Get(device, kBytes, true)->data(), memory);
    EXPECT_EQ(scratch.bytes(), 2 * kBytes);
}

TEST_F(ScratchTest, OtherRunsUseOtherMemoryThanGradients) {
    Scratch scratch;
    Device& device = GetDefaultDevice();
    const void* memory = scratch.Get(device, kBytes, true)->data();
    StoragePtr gradient = scratch.MakeGradient(device, 0, kBytes);
    const void* other = scratch.Get(device, kBytes)->data();
    EXPECT_NE(other, memory);
    EXPECT_EQ(scratch.Get(device, kBytes)->data(), other);
    EXPECT_EQ(scratch.bytes(), 2 * kBytes);
    gradient = nullptr;
    EXPECT_EQ(scratch.Get(device, kBytes, true)->data(), memory);
    EXPECT_TRUE(scratch.MakeGradient(device, 0, kBytes));
}

TEST_F(ScratchTest, KeptGradientsKeepTheMemoryOfOneRun) {
    Scratch scratch;
    Device& device = GetDefaultDevice();
    const void* memory = scratch.Get(device, kBytes, true)->data();
    StoragePtr kept = scratch.MakeGradient(device, 0, kBytes);
    EXPECT_NE(scratch.Get(device, kBytes, true)->data(), memory);
    EXPECT_FALSE(scratch.MakeGradient(device, 0, kBytes));
    EXPECT_EQ(kept->data(), memory);
}

TEST_F(ScratchTest, GradientsOutliveIt) {
    StoragePtr gradient;
    {
        Scratch scratch;
        scratch.Get(GetDefaultDevice(), kBytes, true);
        gradient = scratch.MakeGradient(GetDefaultDevice(), 0, kBytes);
    }
    static_cast<char*>(gradient->data())[kBytes - 1] = 1;  // under the sanitizer
    EXPECT_EQ(gradient->use_count(), 1u);
}

}  // namespace
}  // namespace chainerx
