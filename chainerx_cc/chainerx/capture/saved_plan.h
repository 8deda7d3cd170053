#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/device.h"

namespace chainerx {

class Plan;
struct Program;

// Scalars of a call, such as those of an update of parameters.
struct PlanScalars {
    enum class Rule : uint8_t {
        kFixed,     // `values` are the scalars
        kAdam,      // made of alpha, beta1, beta2, eps, eta, the rate of the weight decay, and the number of the update
        kAdaBound,  // as those of Adam; the bounds are made of two further ones, final_lr and gamma
    };
    size_t index;  // among the calls that have scalars
    Rule rule;
    int64_t updates;  // made so far
    std::vector<double> values;
};

// An array that each run replaces, such as the state of a recurrent cell: an input of a run is a result of the one
// before.
struct PlanState {
    size_t input;   // its number
    size_t result;  // its number
    Array value;    // for the next run
};

// What a file has besides the kernels.
struct PlanDetails {
    std::vector<std::string> guards;                      // what has to be as it was, which only Python can tell
    std::vector<std::string> inputs;                      // names, in order
    std::vector<std::pair<std::string, Array>> arrays;    // parameters and states
    std::vector<std::pair<std::string, size_t>> outputs;  // names and numbers of results
    std::vector<PlanScalars> scalars;
    std::vector<PlanState> states;
};

// Why no file can have a plan, such as a kernel that files do not have; nothing if one can.
std::string FindRefusal(const Program& program);

// Writes a plan, with the present contents of all arrays that it reads. Raises ChainerxError if a file cannot have it.
void WritePlan(const std::string& path, const Program& program, const PlanDetails& details);

// The names of the kernels that files have.
std::vector<std::string> GetSavedKernelNames();

// A plan from a file: an inference or a step of a training, with its parameters and states. Runs repeat it to the bit
// on other inputs, and a training goes on where it was. Files may come from anywhere: they have no code, and whatever
// is wrong with one is a ValueError. One thread at a time.
class SavedPlan {
public:
    // Raises ChainerxError if the file cannot be read, ValueError if it is damaged.
    explicit SavedPlan(const std::string& path, Device& device = GetDefaultDevice());
    ~SavedPlan();
    SavedPlan(SavedPlan&&) noexcept;
    SavedPlan& operator=(SavedPlan&&) noexcept;

    // Outputs for inputs of the shapes and dtypes of the recording. Raises as the kernels do, ValueError for inputs
    // that do not fit.
    std::vector<Array> Run(const std::vector<Array>& inputs);
    // Writes the plan with the present parameters and states.
    void Save(const std::string& path) const;

    const std::vector<std::string>& inputs() const;
    const std::vector<std::string>& outputs() const;
    // Parameters and states by name. They may be changed in place. Those of recurrent cells are others after each run.
    const std::vector<std::pair<std::string, Array>>& arrays() const;
    // The array of a name. Raises ValueError if there is none.
    const Array& Find(const std::string& name) const;
    // What the function depends on besides its arguments, which nobody checks here.
    const std::vector<std::string>& guards() const;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace chainerx
