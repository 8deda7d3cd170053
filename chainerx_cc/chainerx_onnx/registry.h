#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "chainerx_onnx/kernel.h"
#include "chainerx_onnx/node.h"

namespace chainerx::onnx {

// Reads a node and gives what it does at each run.
using MakeKernel = Kernel (*)(const Node&);

constexpr int64_t kNewestOpset = 28;

// What a run may do with an operator beside running it.
enum class Purity : uint8_t {
    kPure,    // constant inputs give constant outputs
    kRandom,  // runs each time
};

// Its inputs and attributes are in its schema. `attributes`: names of those that its function takes (parameters.h).
struct Operator {
    const char* name;
    MakeKernel make;
    const char* attributes{""};
    Purity purity{Purity::kPure};
    const char* domain{""};
    Operands operands{Operands::kArrays};
};

// The operator of a domain, or null.
const Operator* FindOperator(const std::string& domain, const std::string& name);

// Those of all domains, in the order of their names.
std::vector<const Operator*> AllOperators();

// The table of a family, which is at the end of its file in operators/.
using OperatorTable = std::initializer_list<Operator>;

#define CHAINERX_ONNX_FAMILIES(X) \
    X(Activations)                \
    X(Arrays)                     \
    X(Attention)                  \
    X(BlockProducts)              \
    X(Categories)                 \
    X(Control)                    \
    X(Convolutions)               \
    X(Elementwise)                \
    X(Features)                   \
    X(Gathering)                  \
    X(Generators)                 \
    X(Images)                     \
    X(IntegerConvolutions)        \
    X(Learning)                   \
    X(Linear)                     \
    X(LinearModels)               \
    X(Normalizations)             \
    X(Pooling)                    \
    X(Quantization)               \
    X(Recurrent)                  \
    X(Reductions)                 \
    X(Regions)                    \
    X(Sequences)                  \
    X(Signals)                    \
    X(Text)                       \
    X(Trees)                      \
    X(Types)

#define CHAINERX_ONNX_DECLARE_FAMILY(Name) extern const OperatorTable k##Name##Operators;
CHAINERX_ONNX_FAMILIES(CHAINERX_ONNX_DECLARE_FAMILY)
#undef CHAINERX_ONNX_DECLARE_FAMILY

}  // namespace chainerx::onnx
