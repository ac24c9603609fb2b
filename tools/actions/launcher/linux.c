/* The tiny program that stands in for a link to a program.
 *
 * A wheel cannot hold links. This program executes the file that the link led to, found
 * relative to its own directory, with argv[0] unchanged, so that programs which look at
 * argv[0] (clang, lld) behave as they do through the link.
 *
 * It is static and freestanding: no libc, so none can be too new, and the same bytes serve
 * every launcher: the target is written into `target` when the package is made.
 */

#include <stddef.h>

enum { SIZE = 4096, AT_FDCWD = -100, STDERR = 2, CANNOT_EXECUTE = 126 };

/* Filled by //tools/actions/pack. The section is what it looks for; volatile, because the compiler must not believe the zeros. */
__attribute__((section(".launcher.target"), used)) static const volatile char target[SIZE] = {0};

#if defined(__x86_64__)
enum { SYS_write = 1, SYS_execve = 59, SYS_exit = 60, SYS_readlinkat = 267 };

static long call(long number, long a, long b, long c, long d) {
  long result;
  register long r10 __asm__("r10") = d;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
  return result;
}

__asm__(".globl _start\n_start:\n  xor %ebp, %ebp\n  mov %rsp, %rdi\n  and $-16, %rsp\n  call launch\n");
#elif defined(__aarch64__)
enum { SYS_write = 64, SYS_execve = 221, SYS_exit = 93, SYS_readlinkat = 78 };

static long call(long number, long a, long b, long c, long d) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
  return x0;
}

__asm__(".globl _start\n_start:\n  mov x29, #0\n  mov x30, #0\n  mov x0, sp\n  bl launch\n");
#else
#error "the launcher knows x86_64 and aarch64"
#endif

static size_t length(const char *text) {
  size_t size = 0;
  while (text[size]) size++;
  return size;
}

static void say(const char *text) { call(SYS_write, STDERR, (long)text, (long)length(text), 0); }

/* Returns the usual words for what readlinkat(2) and execve(2) fail with; the numbers are the same on both CPUs. */
static const char *words(long error) {
  switch (error) {
    case 2: return " (No such file or directory, or its interpreter is missing)";
    case 7: return " (Argument list too long)";
    case 8: return " (Exec format error: not a program for this CPU)";
    case 12: return " (Cannot allocate memory)";
    case 13: return " (Permission denied)";
    case 20: return " (Not a directory)";
    case 26: return " (Text file busy)";
    case 36: return " (File name too long)";
    case 40: return " (Too many levels of symbolic links)";
    default: return "";
  }
}

/* Says what failed, on which path, and the number and words of the error; 0 if no system call failed. */
__attribute__((noreturn)) static void fail(const char *what, const char *path, long error) {
  char digits[12], *first = digits + sizeof digits - 1;
  long left = error;
  *first = 0;
  do *--first = (char)('0' + left % 10);
  while (left /= 10);
  say("launcher: ");
  say(what);
  say(path);
  if (error) {
    say(": error ");
    say(first);
    say(words(error));
  }
  say("\n");
  for (;;) call(SYS_exit, CANNOT_EXECUTE, 0, 0, 0);
}

/* `stack` is what the kernel leaves there: argc, argv, NULL, environment, NULL. */
__attribute__((noreturn, used)) void launch(long *stack) {
  static char path[2 * SIZE];
  char **argv = (char **)(stack + 1);
  char **environment = argv + stack[0] + 1;

  long size = call(SYS_readlinkat, AT_FDCWD, (long)"/proc/self/exe", (long)path, SIZE);
  if (size <= 0 || size >= SIZE) fail("cannot find its own file; is /proc mounted? ", "/proc/self/exe", size < 0 ? -size : 0);
  while (size > 0 && path[size - 1] != '/') size--;
  for (size_t i = 0; i < SIZE; i++) {
    path[size + (long)i] = target[i];
    if (!target[i]) break;
  }
  if (!target[0]) fail("was not finished: it has no target", "", 0);
  long failed = call(SYS_execve, (long)path, (long)argv, (long)environment, 0);
  fail("cannot execute ", path, -failed);
}
