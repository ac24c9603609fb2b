/* zstd's decoder, as one thing to feed.
 *
 * The library is one source file, included here and compiled with -fvisibility=hidden, so that nothing is visible but what
 * this file exports: the linker drops the compressor. Nothing of libc is linked: the few functions that are missing are
 * those of the process.
 */
#define ZSTDLIB_VISIBLE
#define ZSTDERRORLIB_VISIBLE
#define ZDICTLIB_VISIBLE
#include "zstd.c"

#define EXPORTED __attribute__((visibility("default")))

/* Makes a decoder that takes windows of up to 2^window_log bytes, and no more memory than that. NULL: out of memory. */
EXPORTED void *zstd_decoder_new(int window_log)
{
	ZSTD_DCtx *decoder = ZSTD_createDCtx();

	if (decoder && ZSTD_isError(ZSTD_DCtx_setParameter(decoder, ZSTD_d_windowLogMax, window_log))) {
		ZSTD_freeDCtx(decoder);
		return NULL;
	}
	return decoder;
}

EXPORTED void zstd_decoder_free(void *decoder)
{
	ZSTD_freeDCtx(decoder);
}

/* Takes up to `size` bytes of a frame and gives up to `room` bytes; `used` and `given` say how many it were.
 * Returns NULL if all went well, else what is wrong. `ended` becomes 1 with the last byte of the frame. */
EXPORTED const char *zstd_decoder_step(void *decoder, const void *in, size_t size, size_t *used,
				       void *out, size_t room, size_t *given, int *ended)
{
	ZSTD_inBuffer source = {in, size, 0};
	ZSTD_outBuffer target = {out, room, 0};
	size_t result = ZSTD_decompressStream(decoder, &target, &source);

	*used = source.pos;
	*given = target.pos;
	*ended = result == 0;
	return ZSTD_isError(result) ? ZSTD_getErrorName(result) : NULL;
}
