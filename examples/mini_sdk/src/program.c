/* A multi-call program, as clang and lld are: what it is called by decides what it is.
 *
 * Prints its argv[0] without directories, its arguments, and the length of the chain of
 * libraries that NEXT leads through.
 */

#include "freestanding.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

int JOIN(NEXT, _chain)(void);

__attribute__((noreturn, used)) void start(long *stack) {
  char **argv = (char **)(stack + 1);
  const char *name = argv[0];
  for (const char *at = name; *at; at++)
    if (*at == '/') name = at + 1;
  char digit[2] = {(char)('0' + JOIN(NEXT, _chain)()), 0};
  sdk_print(name);
  for (long i = 1; i < stack[0]; i++) {
    sdk_print(" ");
    sdk_print(argv[i]);
  }
  sdk_print(": chain of ");
  sdk_print(digit);
  sdk_print("\n");
  sdk_exit(0);
}
