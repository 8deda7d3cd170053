#pragma once

// Everything a C++ program needs.

#include "chainerx/autograd/backward.h"
#include "chainerx/autograd/check.h"
#include "chainerx/autograd/mode.h"
#include "chainerx/core/array.h"
#include "chainerx/core/context.h"
#include "chainerx/core/error.h"
#include "chainerx/ops/activation.h"
#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/comparison.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/explog.h"
#include "chainerx/ops/indexing.h"
#include "chainerx/ops/linalg.h"
#include "chainerx/ops/loss.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/optimizer.h"
#include "chainerx/ops/reduction.h"
#include "chainerx/ops/trigonometric.h"
