#include "sdk/math.h"

#include "sdk/base.h"

long acme_math_sum(long a, long b) { return acme_base_clamp(a + b); }

long acme_math_product(long a, long b) { return acme_base_clamp(a * b); }
