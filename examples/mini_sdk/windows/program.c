/* Prints its command line, and the length of the chain of DLLs that NEXT (if any) leads through. */

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

#ifdef NEXT
__declspec(dllimport) int JOIN(NEXT, _chain)(void);
#define CHAIN JOIN(NEXT, _chain)()
#else
#define CHAIN 0
#endif

static void print(const char *text) {
  DWORD size = 0, written;
  while (text[size]) size++;
  WriteFile(GetStdHandle(STD_OUTPUT_HANDLE), text, size, &written, NULL);
}

__attribute__((noreturn)) void start(void) {
  char digit[2] = {(char)('0' + CHAIN), 0};
  print(GetCommandLineA());
  print(": chain of ");
  print(digit);
  print("\r\n");
  ExitProcess(0);
}
