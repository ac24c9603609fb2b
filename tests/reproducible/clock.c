/* Preloaded into a program, this lets it live 400 days later.
 *
 * It stands in for the C library's functions that tell the time of day; the clock that only measures (CLOCK_MONOTONIC)
 * stays as it is. Without a libc, so that it can be loaded beside any.
 */

enum { LATER = 400 * 24 * 60 * 60, REALTIME = 0, REALTIME_COARSE = 5 };

struct timespec {
  long seconds, nanoseconds;
};

struct timeval {
  long seconds, microseconds;
};

static long kernel_clock(long clock, struct timespec *now) {
#if defined(__x86_64__)
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(228L), "D"(clock), "S"(now) : "rcx", "r11", "memory");
  return result;
#else
  register long x8 __asm__("x8") = 113;
  register long x0 __asm__("x0") = clock;
  register struct timespec *x1 __asm__("x1") = now;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1) : "memory");
  return x0;
#endif
}

__attribute__((visibility("default"))) int clock_gettime(int clock, struct timespec *now) {
  if (kernel_clock(clock, now)) return -1;
  if (clock == REALTIME || clock == REALTIME_COARSE) now->seconds += LATER;
  return 0;
}

__attribute__((visibility("default"))) int gettimeofday(struct timeval *now, void *zone) {
  struct timespec precise;
  (void)zone;
  if (clock_gettime(REALTIME, &precise)) return -1;
  now->seconds = precise.seconds;
  now->microseconds = precise.nanoseconds / 1000;
  return 0;
}

__attribute__((visibility("default"))) long time(long *result) {
  struct timespec now;
  if (clock_gettime(REALTIME, &now)) return -1;
  if (result) *result = now.seconds;
  return now.seconds;
}
