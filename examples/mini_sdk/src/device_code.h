/* Device code as HIP's compiler leaves it in a library: an offload bundle with an entry for the host and for two GPU
 * targets, FIRST_TARGET and SECOND_TARGET, and the wrapper by which the library hands it to HIP. The code is text.
 * TEXT(NAME) makes a string of a macro's value.
 */
#pragma once

#define ENTRY_ID(target) "hipv4-amdgcn-amd-amdhsa--" TEXT(target)
#define CODE(target) "the device code for " TEXT(target)
#define HOST_ID "host-x86_64-unknown-linux-gnu-"
#define ENTRY(id) \
  struct {        \
    unsigned long offset, size, id_size; \
    char text[sizeof(id) - 1];           \
  } __attribute__((packed))

/* Clang's documentation of the offload bundler has the format ("Bundled Code Object Layout"). */
struct bundle {
  char magic[24];
  unsigned long count;
  ENTRY(HOST_ID) host;
  ENTRY(ENTRY_ID(FIRST_TARGET)) first;
  ENTRY(ENTRY_ID(SECOND_TARGET)) second;
  char first_code[4096] __attribute__((aligned(4096)));
  char second_code[4096];
} __attribute__((packed));

#define OF(target, id_text, code) \
  { __builtin_offsetof(struct bundle, code), sizeof(CODE(target)), sizeof(id_text) - 1, id_text }

__attribute__((section(".hip_fatbin"), aligned(4096), used)) static const struct bundle device_code = {
    "__CLANG_OFFLOAD_BUNDLE__",
    3,
    {__builtin_offsetof(struct bundle, first_code), 0, sizeof(HOST_ID) - 1, HOST_ID},
    OF(FIRST_TARGET, ENTRY_ID(FIRST_TARGET), first_code),
    OF(SECOND_TARGET, ENTRY_ID(SECOND_TARGET), second_code),
    CODE(FIRST_TARGET),
    CODE(SECOND_TARGET),
};

__attribute__((section(".hipFatBinSegment"), used)) static struct {
  unsigned magic, version;
  const struct bundle *binary;
  void *unused;
} wrapper = {0x48495046, 1, &device_code, 0};
