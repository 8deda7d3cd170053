#include "chainerx/backends/native/convolution_bias.h"

#include "chainerx/core/kernels.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/manipulation.h"

namespace chainerx::native {

void FillBias(const Array& bias, const Array& out) {
    if (!bias) {
        chainerx::Fill(out, Scalar{0});
        return;
    }
    Shape aligned{out.shape()[1]};
    for (int d = 2; d < out.ndim(); ++d) aligned.push_back(1);
    CopyData(Reshape(bias, aligned), out);
}

}  // namespace chainerx::native
