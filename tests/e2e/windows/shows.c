/* Prints its command line as UTF-8 and ends with exit code 7; with the argument `wait`, it first waits for a minute. */

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

enum { LONGEST = 32768, CODE = 7, MINUTE = 60000 };

__attribute__((noreturn)) void show(void) {
  static char bytes[3 * LONGEST];
  DWORD written;
  int size = WideCharToMultiByte(CP_UTF8, 0, GetCommandLineW(), -1, bytes, sizeof bytes, NULL, NULL);
  WriteFile(GetStdHandle(STD_OUTPUT_HANDLE), bytes, (DWORD)size - 1, &written, NULL);
  if (size > 5 && bytes[size - 5] == 'w' && bytes[size - 4] == 'a' && bytes[size - 3] == 'i' && bytes[size - 2] == 't')
    Sleep(MINUTE);
  ExitProcess(CODE);
}
