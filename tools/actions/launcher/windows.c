/* The tiny program that stands in for a link to a program, on Windows.
 *
 * It starts the file that the link led to, found relative to its own directory, with its own command line: so arguments
 * are quoted as the caller quoted them, and argv[0] is what it was. It waits, and ends with the same exit code.
 *
 * No C runtime, only kernel32. The target is written into `target`, as UTF-8, when the package is made, and the
 * subsystem of the target into the header: of a program without a console, the launcher has none either.
 */

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

enum { TARGET_SIZE = 4096, LONGEST = 32768, CANNOT_EXECUTE = 126 };

/* Filled by //tools/actions/pack. The section is what it looks for; volatile, because the compiler must not believe the zeros. */
__attribute__((section(".target"), used)) static const volatile char target[TARGET_SIZE] = {0};

static WCHAR own[LONGEST + TARGET_SIZE], full[LONGEST + TARGET_SIZE];

static void say(const WCHAR *text) {
  static char bytes[3 * LONGEST];
  DWORD written;
  int size = WideCharToMultiByte(CP_UTF8, 0, text, -1, bytes, sizeof bytes, NULL, NULL);
  if (size > 0) WriteFile(GetStdHandle(STD_ERROR_HANDLE), bytes, (DWORD)size - 1, &written, NULL);
}

/* Says what failed, on which path, and the number of the system's last error. */
__attribute__((noreturn)) static void fail(const WCHAR *what, const WCHAR *path) {
  WCHAR digits[12], *first = digits + 11;
  DWORD error = GetLastError();
  *first = 0;
  do *--first = (WCHAR)(L'0' + error % 10);
  while (error /= 10);
  say(L"launcher: ");
  say(what);
  say(path);
  say(L": error ");
  say(first);
  say(L"\n");
  ExitProcess(CANNOT_EXECUTE);
}

/* Returns the path of the target; one that is longer than MAX_PATH in the form that may be (wine starts no such program). */
static const WCHAR *find(void) {
  static const WCHAR prefix[] = L"\\\\?\\";
  enum { PREFIX = 4 };
  DWORD size = GetModuleFileNameW(NULL, own, LONGEST);
  if (!size || size >= LONGEST) fail(L"cannot find its own file", L"");
  while (size && own[size - 1] != L'\\') size--;
  if (!target[0]) fail(L"was not finished: it has no target", L"");
  if (!MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, (const char *)target, -1, own + size, TARGET_SIZE))
    fail(L"its target is not UTF-8: ", own);
  size = GetFullPathNameW(own, LONGEST, full + PREFIX, NULL);
  if (!size || size >= LONGEST) fail(L"cannot find the target: ", own);
  if (size < MAX_PATH || (full[PREFIX] == L'\\' && full[PREFIX + 1] == L'\\')) return full + PREFIX;
  for (int i = 0; i < PREFIX; i++) full[i] = prefix[i];
  return full;
}

/* Ctrl+C reaches both processes; the program decides what it means. */
static BOOL WINAPI stay(DWORD event) {
  (void)event;
  return TRUE;
}

/* Makes a job whose processes end with this one. */
static HANDLE job(void) {
  static JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits;
  HANDLE made = CreateJobObjectW(NULL, NULL);
  limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | JOB_OBJECT_LIMIT_SILENT_BREAKAWAY_OK;
  if (made) SetInformationJobObject(made, JobObjectExtendedLimitInformation, &limits, sizeof limits);
  return made;
}

__attribute__((noreturn)) void launch(void) {
  static STARTUPINFOW startup;
  static PROCESS_INFORMATION process;
  const WCHAR *path = find();
  HANDLE together = job();
  DWORD code = CANNOT_EXECUTE;

  GetStartupInfoW(&startup);
  SetConsoleCtrlHandler(stay, TRUE);
  if (!CreateProcessW(path, GetCommandLineW(), NULL, NULL, TRUE, CREATE_SUSPENDED, NULL, NULL, &startup, &process))
    fail(L"cannot execute ", path);
  if (together) AssignProcessToJobObject(together, process.hProcess);
  ResumeThread(process.hThread);
  WaitForSingleObject(process.hProcess, INFINITE);
  GetExitCodeProcess(process.hProcess, &code);
  ExitProcess(code);
}
