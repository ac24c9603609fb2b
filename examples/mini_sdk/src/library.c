/* Any library of the mini SDK: NAME says what it is, NEXT (if any) the library that it calls.
 *
 * NAME_chain() returns how many libraries a call goes through, so that a test sees whether
 * each was found: the last one returns 1.
 */

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define TEXT_(a) #a
#define TEXT(a) TEXT_(a)

#ifdef NEXT
int JOIN(NEXT, _chain)(void);
#endif

#ifdef FIRST_TARGET
#include "device_code.h"
#endif

#ifdef SPLIT_OFF
#include "split_off.h"
#endif

/* Data and zero-initialised data, as libraries have them. */
int JOIN(NAME, _calls) = 7;
static char workspace[4096];

__attribute__((visibility("default"))) const char *JOIN(NAME, _name)(void) { return TEXT(NAME); }

__attribute__((visibility("default"))) int JOIN(NAME, _chain)(void) {
  workspace[JOIN(NAME, _calls) & 4095] = 1;
#ifdef NEXT
  return 1 + JOIN(NEXT, _chain)();
#else
  return 1;
#endif
}
