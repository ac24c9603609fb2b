/* What the programs of the mini SDK need of an operating system, without a libc: nothing is linked but the SDK itself. */
#pragma once

static long sdk_call(long number, long a, long b, long c) {
#if defined(__x86_64__)
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
  return result;
#else
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
  return x0;
#endif
}

#if defined(__x86_64__)
enum { SDK_WRITE = 1, SDK_EXIT = 60 };
__asm__(".globl _start\n_start:\n  mov %rsp, %rdi\n  and $-16, %rsp\n  call start\n");
#else
enum { SDK_WRITE = 64, SDK_EXIT = 93 };
__asm__(".globl _start\n_start:\n  mov x0, sp\n  bl start\n");
#endif

static void sdk_print(const char *text) {
  long size = 0;
  while (text[size]) size++;
  sdk_call(SDK_WRITE, 1, (long)text, size);
}

__attribute__((noreturn)) static void sdk_exit(int code) {
  for (;;) sdk_call(SDK_EXIT, code, 0, 0);
}
