// Trains a multi-layer perceptron on handwritten digits, without Python.
//
//     train_mnist chainer/datasets/_digits/digits.bin [epochs] [units]

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "chainerx/chainerx.h"

namespace {

namespace cx = chainerx;

constexpr int64_t kPixels = 64;
constexpr int64_t kClasses = 10;
constexpr int64_t kRecordBytes = 41;
constexpr int64_t kBatchSize = 32;

struct Dataset {
    std::vector<float> pixels;    // (size, kPixels), from 0 to 1
    std::vector<int64_t> labels;  // (size)

    int64_t size() const { return static_cast<int64_t>(labels.size()); }
};

// The layout is described beside the file. Every fifth image is a test image.
void ReadDigits(const std::string& path, Dataset* train, Dataset* test) {
    std::ifstream file{path, std::ios::binary};
    if (!file) throw std::runtime_error{"cannot open " + path};
    std::vector<uint8_t> bytes{std::istreambuf_iterator<char>{file}, {}};
    if (bytes.empty() || bytes.size() % kRecordBytes != 0) {
        throw std::runtime_error{path + " does not consist of records of 41 bytes"};
    }
    for (size_t i = 0; i * kRecordBytes < bytes.size(); ++i) {
        const uint8_t* record = bytes.data() + i * kRecordBytes;
        Dataset* set = i % 5 == 0 ? test : train;
        set->labels.push_back(record[0]);
        for (int row = 0; row < 8; ++row) {
            uint64_t bits = 0;
            for (int b = 0; b < 5; ++b) bits |= uint64_t{record[1 + 5 * row + b]} << (8 * b);
            for (int col = 0; col < 8; ++col) set->pixels.push_back(((bits >> (5 * col)) & 31) / 16.0f);
        }
    }
}

// Weights and biases of a multi-layer perceptron.
class Model {
public:
    Model(const std::vector<int64_t>& sizes, std::mt19937* rng) {
        for (size_t i = 0; i + 1 < sizes.size(); ++i) {
            std::normal_distribution<float> normal{0, 1 / std::sqrt(static_cast<float>(sizes[i]))};
            std::vector<float> w(sizes[i] * sizes[i + 1]);
            std::generate(w.begin(), w.end(), [&] { return normal(*rng); });
            params_.push_back(cx::FromHost(cx::Shape{sizes[i + 1], sizes[i]}, cx::Dtype::kFloat32, w.data()));
            params_.push_back(cx::Zeros(cx::Shape{sizes[i + 1]}, cx::Dtype::kFloat32));
        }
        for (const cx::Array& p : params_) {
            p.RequireGrad();
            velocities_.push_back(cx::Zeros(p.shape(), p.dtype()));
        }
    }

    cx::Array operator()(cx::Array h) const {
        for (size_t i = 0; i < params_.size(); i += 2) {
            if (i > 0) h = cx::Relu(h);
            h = cx::Linear(h, params_[i], params_[i + 1]);
        }
        return h;
    }

    void ClearGrads() const {
        for (const cx::Array& p : params_) p.ClearGrad();
    }

    void Update(double lr, double momentum) const {
        std::vector<cx::Array> arrays = params_;
        for (const cx::Array& p : params_) arrays.push_back(p.GetGrad());
        arrays.insert(arrays.end(), velocities_.begin(), velocities_.end());
        cx::UpdateParameters(cx::kMomentumSgdUpdate, arrays, {lr, momentum});
    }

private:
    std::vector<cx::Array> params_;
    std::vector<cx::Array> velocities_;
};

double ToDouble(const cx::Array& scalar) {
    return *cx::AsType(cx::AsGradStopped(scalar), cx::Dtype::kFloat64).data<double>();
}

void Run(const std::string& path, int epochs, int64_t units) {
    Dataset train;
    Dataset test;
    ReadDigits(path, &train, &test);
    cx::Array test_x = cx::FromHost(cx::Shape{test.size(), kPixels}, cx::Dtype::kFloat32, test.pixels.data());
    cx::Array test_t = cx::FromHost(cx::Shape{test.size()}, cx::Dtype::kInt64, test.labels.data());

    std::mt19937 rng{0};
    Model model{{kPixels, units, units, kClasses}, &rng};
    std::vector<int64_t> order(train.size());
    std::iota(order.begin(), order.end(), 0);

    std::cout << "epoch  loss        validation accuracy\n";
    for (int epoch = 1; epoch <= epochs; ++epoch) {
        std::shuffle(order.begin(), order.end(), rng);
        double total = 0;
        for (int64_t begin = 0; begin < train.size(); begin += kBatchSize) {
            int64_t n = std::min(kBatchSize, train.size() - begin);
            std::vector<float> pixels;
            std::vector<int64_t> labels;
            for (int64_t i = begin; i < begin + n; ++i) {
                auto first = train.pixels.begin() + order[i] * kPixels;
                pixels.insert(pixels.end(), first, first + kPixels);
                labels.push_back(train.labels[order[i]]);
            }
            cx::Array x = cx::FromHost(cx::Shape{n, kPixels}, cx::Dtype::kFloat32, pixels.data());
            cx::Array t = cx::FromHost(cx::Shape{n}, cx::Dtype::kInt64, labels.data());
            model.ClearGrads();
            cx::Array loss = cx::Mean(cx::SoftmaxCrossEntropy(model(x), t));
            cx::Backward(loss);
            model.Update(0.05, 0.9);
            total += ToDouble(loss) * n;
        }
        cx::NoBackpropModeScope no_backprop{cx::GetDefaultContext()};
        double accuracy = ToDouble(cx::Accuracy(model(test_x), test_t));
        std::cout << std::left << std::setw(7) << epoch << std::setw(12) << total / train.size() << accuracy
                  << std::endl;
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2 || argc > 4) {
        std::cerr << "usage: " << argv[0] << " digits.bin [epochs] [units]\n";
        return 2;
    }
    try {
        cx::Context context;
        cx::ContextScope scope{context};
        Run(argv[1], argc > 2 ? std::atoi(argv[2]) : 20, argc > 3 ? std::atoi(argv[3]) : 64);
    } catch (const std::exception& e) {
        std::cerr << "error: " << e.what() << '\n';
        return 1;
    }
    return 0;
}
