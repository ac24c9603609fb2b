/* libacme_math: sums and products, over libacme_base. */
#pragma once

long acme_math_sum(long a, long b);

long acme_math_product(long a, long b);
