#include "chainerx/backends/native/kernels/optimizer.h"

#include <algorithm>

#include "chainerx/backends/native/kernels/test_util.h"

namespace chainerx {
namespace native {
namespace {

struct RuleCase {
    const char* name;
    UpdateRule rule;
    std::vector<double> scalars;
    // One step on one element, written from the formulas: p, g, states, scalars
    void (*step)(double& p, double g, double* s, const double* k);
};

double AdamRate(double v, const double* k) { return std::min(std::max(k[0] / (std::sqrt(v) + k[3]), k[6]), k[7]); }

const RuleCase kRules[] = {
        {"sgd", UpdateRule::kSgd, {0.1}, [](double& p, double g, double*, const double* k) { p -= k[0] * g; }},
        {"momentum",
         UpdateRule::kMomentumSgd,
         {0.1, 0.9},
         [](double& p, double g, double* s, const double* k) {
             s[0] = k[1] * s[0] - k[0] * g;
             p += s[0];
         }},
        {"corrected",
         UpdateRule::kCorrectedMomentumSgd,
         {0.1, 0.9},
         [](double& p, double g, double* s, const double* k) {
             s[0] = k[1] * s[0] - g;
             p += k[0] * s[0];
         }},
        {"nesterov",
         UpdateRule::kNesterovAg,
         {0.1, 0.9},
         [](double& p, double g, double* s, const double* k) {
             s[0] = k[1] * s[0] - k[0] * g;
             p += k[1] * s[0] - k[0] * g;
         }},
        {"adam",
         UpdateRule::kAdam,
         {0.01, 0.1, 0.001, 1e-8, 0.9, 0.02, 0, 1e30},
         [](double& p, double g, double* s, const double* k) {
             s[0] += k[1] * (g - s[0]);
             s[1] += k[2] * (g * g - s[1]);
             p -= k[4] * (AdamRate(s[1], k) * s[0] + k[5] * p);
         }},
        {"adabound",
         UpdateRule::kAdam,
         {0.01, 0.1, 0.001, 1e-8, 0.9, 0.02, 0.05, 0.1},
         [](double& p, double g, double* s, const double* k) {
             s[0] += k[1] * (g - s[0]);
             s[1] += k[2] * (g * g - s[1]);
             p -= k[4] * (AdamRate(s[1], k) * s[0] + k[5] * p);
         }},
        {"amsgrad",
         UpdateRule::kAmsGrad,
         {0.01, 0.1, 0.001, 1e-8, 1, 0, 0, 1e30},
         [](double& p, double g, double* s, const double* k) {
             s[0] += k[1] * (g - s[0]);
             s[1] += k[2] * (g * g - s[1]);
             s[2] = std::max(s[1], s[2]);
             p -= k[4] * (AdamRate(s[2], k) * s[0] + k[5] * p);
         }},
        {"rmsprop",
         UpdateRule::kRmsProp,
         {0.01, 0.9, 1e-4, 0},
         [](double& p, double g, double* s, const double* k) {
             s[0] = k[1] * s[0] + (1 - k[1]) * g * g;
             p -= k[0] * g / (std::sqrt(s[0]) + k[2]);
         }},
        {"rmsprop, eps inside",
         UpdateRule::kRmsProp,
         {0.01, 0.9, 1e-4, 1},
         [](double& p, double g, double* s, const double* k) {
             s[0] = k[1] * s[0] + (1 - k[1]) * g * g;
             p -= k[0] * g / std::sqrt(s[0] + k[2]);
         }},
        {"rmsprop graves",
         UpdateRule::kRmsPropGraves,
         {0.01, 0.9, 0.8, 1e-4},
         [](double& p, double g, double* s, const double* k) {
             s[0] = k[1] * s[0] + (1 - k[1]) * g * g;
             s[1] = k[1] * s[1] + (1 - k[1]) * g;
             s[2] = k[2] * s[2] - k[0] * g / std::sqrt(s[0] - s[1] * s[1] + k[3]);
             p += s[2];
         }},
        {"adagrad",
         UpdateRule::kAdaGrad,
         {0.01, 1e-6},
         [](double& p, double g, double* s, const double* k) {
             s[0] += g * g;
             p -= k[0] * g / (std::sqrt(s[0]) + k[1]);
         }},
        {"adadelta",
         UpdateRule::kAdaDelta,
         {0.9, 1e-4},
         [](double& p, double g, double* s, const double* k) {
             s[0] = k[0] * s[0] + (1 - k[0]) * g * g;
             double dx = std::sqrt((s[1] + k[1]) / (s[0] + k[1])) * g;
             s[1] = k[0] * s[1] + (1 - k[0]) * dx * dx;
             p -= dx;
         }},
        {"smorms3",
         UpdateRule::kSmorms3,
         {0.01, 1e-10},
         [](double& p, double g, double* s, const double* k) {
             double r = 1 / (s[0] + 1);
             s[1] = (1 - r) * s[1] + r * g;
             s[2] = (1 - r) * s[2] + r * g * g;
             double x = s[1] * s[1] / (s[2] + k[1]);
             p -= g * std::min(x, k[0]) / (std::sqrt(s[2]) + k[1]);
             s[0] = 1 + s[0] * (1 - x);
         }},
        {"msvag",
         UpdateRule::kMsvag,
         {0.1, 0.1, 0.3, 0.4, 0.9, 0.02},
         [](double& p, double g, double* s, const double* k) {
             s[0] += k[1] * (g - s[0]);
             s[1] += k[1] * (g * g - s[1]);
             double mean = s[0] / k[2];
             double noise = std::max((s[1] / k[2] - mean * mean) / (1 - k[3]), 0.0);
             double total = mean * mean + k[3] * noise;
             p -= k[4] * (k[0] * (total > 0 ? mean * mean / total : 0) * mean + k[5] * p);
         }},
        {"msvag, first step",
         UpdateRule::kMsvag,
         {0.1, 0.1, 0.1, 1, 1, 0},
         [](double& p, double g, double* s, const double* k) {
             s[0] += k[1] * (g - s[0]);
             s[1] += k[1] * (g * g - s[1]);
             p -= k[0] * s[0] / k[2];
         }},
};

template <class T>
class OptimizerTest : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(OptimizerTest, Types);

TYPED_TEST(OptimizerTest, AllRulesOverAListOfTensors) {
    using T = TypeParam;
    const std::vector<int64_t> sizes{5, 0, 1, 50000, 17};
    for (const RuleCase& c : kRules) {
        std::vector<std::vector<T>> data;  // of each tensor: p, g, states
        std::vector<std::vector<double>> expected;
        for (int64_t size : sizes) {
            for (unsigned i = 0; i < 5; ++i) {
                data.push_back(RandomVector<T>(size, i));
                if (i >= 2) {
                    for (T& value : data.back()) {
                        value = std::abs(value) + T(i == 2 ? 1 : 0);  // states: squares, and room for a variance
                    }
                }
                expected.push_back(ToDouble(data.back()));
            }
        }
        std::vector<UpdateTensor<T>> tensors;
        for (size_t i = 0; i < sizes.size(); ++i) {
            tensors.push_back({sizes[i],
                               data[5 * i].data(),
                               data[5 * i + 1].data(),
                               {data[5 * i + 2].data(), data[5 * i + 3].data(), data[5 * i + 4].data()}});
            for (int64_t j = 0; j < sizes[i]; ++j) {
                double state[3];
                for (int k = 0; k < 3; ++k) {
                    state[k] = expected[5 * i + 2 + k][j];
                }
                c.step(expected[5 * i][j], expected[5 * i + 1][j], state, c.scalars.data());
                for (int k = 0; k < 3; ++k) {
                    expected[5 * i + 2 + k][j] = state[k];
                }
            }
        }
        UpdateParameters<T>(c.rule, c.scalars.data(), tensors.data(), static_cast<int64_t>(tensors.size()));
        for (size_t i = 0; i < data.size(); ++i) {
            ExpectClose(data[i], expected[i], sizeof(T) == 4 ? 5e-5 : 1e-12, c.name);
        }
    }
}

}  // namespace
}  // namespace native
}  // namespace chainerx
