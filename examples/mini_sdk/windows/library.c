/* Any DLL of the mini SDK: NAME says what it is, NEXT (if any) the one that it calls. See ../src/library.c. */

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define TEXT_(a) #a
#define TEXT(a) TEXT_(a)

#ifdef NEXT
__declspec(dllimport) int JOIN(NEXT, _chain)(void);
#endif

__declspec(dllexport) int JOIN(NAME, _calls) = 7;

__declspec(dllexport) const char *JOIN(NAME, _name)(void) { return TEXT(NAME); }

__declspec(dllexport) int JOIN(NAME, _chain)(void) {
#ifdef NEXT
  return 1 + JOIN(NEXT, _chain)();
#else
  return 1;
#endif
}

/* Windows calls it when the DLL is loaded; there is no C runtime that would have one. */
int _DllMainCRTStartup(void *module, unsigned reason, void *reserved) {
  (void)module, (void)reason, (void)reserved;
  return 1;
}
