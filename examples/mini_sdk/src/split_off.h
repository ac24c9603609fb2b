/* What ROCm's kpack splitter leaves of the device code in a library: SPLIT_OFF is the artifact that it went to
 * ("rand_lib"), NAME_IN_ARCHIVES the library's name there. A header of the two bundles that there were says where.
 */
#pragma once

#define SEARCH_PATH "../.kpack/" TEXT(SPLIT_OFF) "_@GFXARCH@.kpack"
#define KERNEL_NAME TEXT(NAME_IN_ARCHIVES)

/* {"kpack_search_paths": [SEARCH_PATH], "kernel_name": KERNEL_NAME} in MessagePack: each head byte gives type and length. */
__attribute__((section(".rocm_kpack_ref"), used)) static const struct {
  unsigned char map, paths_head;
  char paths[18];
  unsigned char array, path_head[2];
  char path[sizeof(SEARCH_PATH) - 1];
  unsigned char name_head;
  char name[11];
  unsigned char kernel_head[2];
  char kernel[sizeof(KERNEL_NAME) - 1];
} reference = {
    0x82,
    0xa0 + 18, "kpack_search_paths", 0x91, {0xd9, sizeof(SEARCH_PATH) - 1}, SEARCH_PATH,
    0xa0 + 11, "kernel_name", {0xd9, sizeof(KERNEL_NAME) - 1}, KERNEL_NAME,
};

/* The bundles' place in memory stays, so that nothing moves; it has no bytes in the file. */
__asm__(".pushsection .hip_fatbin,\"a\",@nobits\n.balign 4096\n.skip 8192\n.popsection");

/* "HIPK" in place of "HIPF", the reference in place of the bundle, and the bundle's number in archives. */
__attribute__((section(".hipFatBinSegment"), used)) static struct {
  unsigned magic, version;
  const void *reference;
  unsigned long number;
} wrappers[] = {{0x4b504948, 1, &reference, 0}, {0x4b504948, 1, &reference, 1}};
