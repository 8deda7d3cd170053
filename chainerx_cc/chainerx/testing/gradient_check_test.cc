#include "chainerx/testing/gradient_check.h"

#include "chainerx/testing/context_fixture.h"

namespace chainerx {
namespace {

using testing::MakeArray;

class GradientCheckTest : public testing::ContextFixture {};

TEST_F(GradientCheckTest, FindsErrors) {
    Array x = MakeArray(Shape{2}, {0.5, 1.5});
    x.RequireGrad();
    Array gy = MakeArray(Shape{2}, {1, -1});
    Array eps = MakeArray(Shape{2}, {1e-3, 1e-3});
    auto right = [](const std::vector<Array>& xs) { return std::vector<Array>{Tanh(xs[0])}; };
    auto wrong = [](const std::vector<Array>& xs) { return std::vector<Array>{Tanh(xs[0]) * AsGradStopped(xs[0])}; };
    CheckBackward(right, {x}, {gy}, {eps});
    EXPECT_THROW(CheckBackward(wrong, {x}, {gy}, {eps}), GradientCheckError);
}

}  // namespace
}  // namespace chainerx
