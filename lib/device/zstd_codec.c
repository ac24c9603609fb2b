/* zstd's decoder and encoder, each as one thing to feed.
 *
 * The library is compiled with -fvisibility=hidden, so that nothing is visible but what this file exports: the linker drops
 * the rest. Nothing of libc is linked: the few functions that are missing are those of the process.
 */
#include <zstd.h>

#define EXPORTED __attribute__((visibility("default")))

static const char *error_of(size_t result)
{
	return ZSTD_isError(result) ? ZSTD_getErrorName(result) : NULL;
}

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
	return error_of(result);
}

/* Makes an encoder. NULL: out of memory. */
EXPORTED void *zstd_encoder_new(void)
{
	return ZSTD_createCCtx();
}

EXPORTED void zstd_encoder_free(void *encoder)
{
	ZSTD_freeCCtx(encoder);
}

/* Begins a frame of `size` bytes of content, which its header says. Returns NULL if all went well, else what is wrong. */
EXPORTED const char *zstd_encoder_begin(void *encoder, int level, unsigned long long size)
{
	size_t result = ZSTD_CCtx_reset(encoder, ZSTD_reset_session_and_parameters);

	if (!ZSTD_isError(result))
		result = ZSTD_CCtx_setParameter(encoder, ZSTD_c_compressionLevel, level);
	if (!ZSTD_isError(result))
		result = ZSTD_CCtx_setPledgedSrcSize(encoder, size);
	return error_of(result);
}

/* Takes up to `size` bytes of content and gives up to `room` bytes of the frame; `used` and `given` say how many it were.
 * With `last`, which goes with no content, the frame is ended: `ended` becomes 1 once all of it was given.
 * Returns NULL if all went well, else what is wrong. */
EXPORTED const char *zstd_encoder_step(void *encoder, const void *in, size_t size, size_t *used,
				       void *out, size_t room, size_t *given, int last, int *ended)
{
	ZSTD_inBuffer source = {in, size, 0};
	ZSTD_outBuffer target = {out, room, 0};
	size_t result = ZSTD_compressStream2(encoder, &target, &source, last ? ZSTD_e_end : ZSTD_e_continue);

	*used = source.pos;
	*given = target.pos;
	*ended = last && result == 0;
	return error_of(result);
}
