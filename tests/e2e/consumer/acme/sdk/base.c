#include "sdk/base.h"

int acme_base_version(void) { return 200; }

long acme_base_clamp(long value) { return value > 999999 ? 999999 : value; }
