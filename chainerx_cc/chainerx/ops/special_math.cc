#include "chainerx/ops/special_math_impl.h"
