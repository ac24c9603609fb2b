/* libacme_base: what every other library of the SDK needs. */
#pragma once

/* The version of the library, major * 100 + minor. */
int acme_base_version(void);

/* Keeps a value within what the SDK can show. */
long acme_base_clamp(long value);
