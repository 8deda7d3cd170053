#include "chainerx_onnx/registry.h"

#include <sstream>
#include <string>

#include "chainerx_onnx/schema.h"
#include "gtest/gtest.h"

namespace chainerx::onnx {
namespace {

TEST(OperatorTest, AttributesAreOfTheSchema) {
    for (const Operator* op : AllOperators()) {
        const Schema& schema = Schema::Of(op->domain, op->name);
        std::istringstream names{op->attributes};
        for (std::string name; names >> name;) {
            EXPECT_TRUE(schema.HasAttribute(name) || schema.InputOf(name) >= 0) << op->name << ": " << name;
        }
    }
}

}  // namespace
}  // namespace chainerx::onnx
