// Goes on with a training that Python began, without Python.
//
//     continue_training step.plan batches.bin trained.plan

#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "chainerx/chainerx.h"

namespace {

namespace cx = chainerx;

constexpr int64_t kBatchSize = 64;
constexpr int64_t kPixels = 64;

// Reads the images and labels of a batch. False at the end of the file.
bool ReadBatch(std::istream& file, std::vector<float>* pixels, std::vector<int32_t>* labels) {
    auto read = [&file](auto* values) {
        file.read(reinterpret_cast<char*>(values->data()), values->size() * sizeof(values->front()));
    };
    read(pixels);
    read(labels);
    return static_cast<bool>(file);
}

void Run(const std::string& plan_path, const std::string& batches_path, const std::string& trained_path) {
    cx::SavedPlan plan{plan_path};
    std::ifstream file{batches_path, std::ios::binary};
    if (!file) throw std::runtime_error{"cannot open " + batches_path};
    std::vector<float> pixels(kBatchSize * kPixels);
    std::vector<int32_t> labels(kBatchSize);
    while (ReadBatch(file, &pixels, &labels)) {
        cx::Array x = cx::FromHost(cx::Shape{kBatchSize, kPixels}, cx::Dtype::kFloat32, pixels.data());
        cx::Array t = cx::FromHost(cx::Shape{kBatchSize}, cx::Dtype::kInt32, labels.data());
        cx::Array loss = plan.Run({x, t}).at(0);
        std::printf("%.9g\n", static_cast<double>(*loss.data<float>()));
    }
    plan.Save(trained_path);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::cerr << "usage: " << argv[0] << " step.plan batches.bin trained.plan\n";
        return 2;
    }
    try {
        cx::Context context;
        cx::ContextScope scope{context};
        Run(argv[1], argv[2], argv[3]);
    } catch (const std::exception& e) {
        std::cerr << "error: " << e.what() << '\n';
        return 1;
    }
    return 0;
}
