/* Stands in for the part of HIP that libraries register their device code with, and keeps what it is handed.
 *
 * Preloaded, its functions come before those of libamdhip64. What clang adds to a library calls them when the library is
 * loaded: once per wrapper. memory.py reads `handed` afterwards. Nothing of a bundle is looked at here.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX = 65536 };

struct handed {
  const void *wrapper;
  const char *file; /* which has the wrapper */
} handed[MAX];
size_t handed_count;

void **__hipRegisterFatBinary(const void *wrapper) {
  static void *module;
  Dl_info found;

  if (handed_count == MAX || !dladdr(wrapper, &found)) {
    fprintf(stderr, "a wrapper at %p: no library has it, or it is one of more than %d\n", wrapper, MAX);
    abort();
  }
  handed[handed_count++] = (struct handed){wrapper, found.dli_fname};
  return &module;
}

/* All else that such code may call. Their arguments do not matter: on these machines the caller cleans up. */
void __hipUnregisterFatBinary(void) {}
void __hipRegisterFunction(void) {}
void __hipRegisterVar(void) {}
void __hipRegisterManagedVar(void) {}
void __hipRegisterTexture(void) {}
void __hipRegisterSurface(void) {}
