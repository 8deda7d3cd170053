// Classifies an image with a model in an ONNX file: classify MODEL IMAGE
//
// The image is a file of float32 numbers, as many as one input of the model has.

#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "chainerx/chainerx.h"
#include "chainerx_onnx/onnx.h"

namespace {

// An image in a batch of one.
chainerx::Array ReadImage(const std::string& path, const chainerx::onnx::ValueInfo& input) {
    std::ifstream file{path, std::ios::binary};
    std::string bytes{std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
    chainerx::Shape shape;
    for (const auto& dim : input.shape.value()) shape.push_back(dim.size < 0 ? 1 : dim.size);
    if (bytes.size() != shape.GetTotalSize() * sizeof(float)) throw std::runtime_error{"no image in " + path};
    return chainerx::FromHost(shape, chainerx::Dtype::kFloat32, bytes.data());
}

void Classify(const std::string& model_path, const std::string& image_path) {
    chainerx::onnx::Model model = chainerx::onnx::Load(model_path);
    chainerx::Array x = ReadImage(image_path, model.inputs().at(0));
    chainerx::Array y = model.Run({x})[0];
    for (int64_t i = 0; i < y.GetTotalSize(); ++i) {
        std::printf("%lld: %.4f\n", static_cast<long long>(i), y.data<float>()[i]);
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: %s MODEL IMAGE\n", argv[0]);
        return 2;
    }
    chainerx::Context context;
    chainerx::SetGlobalDefaultContext(&context);
    try {
        Classify(argv[1], argv[2]);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
