/* libdeflate, for streams of any length in buffers of a fixed size.
 *
 * libdeflate's own function takes a whole stream. libdeflate.patch lets it begin at a bit, and behind bytes that matches
 * may refer to, and note where each block begins: there the next call goes on.
 */
#include "lib/deflate_decompress.c"

/* Inflates as many whole blocks as input and room allow, from the bit `*bits` of the input on, to `out + *done`; `out`
 * has what precedes. Sets both to where the next block begins. Returns whether the last one was final. */
int inflater_run(struct libdeflate_decompressor *decompressor, const u8 *in, size_t size, u8 *out, size_t room,
		 size_t *bits, size_t *done)
{
	size_t bytes;

	decompressor->bits = *bits;
	decompressor->done = *done;
	if (!libdeflate_deflate_decompress_ex(decompressor, in, size, out, room, &bytes, done)) {
		*bits = 8 * bytes;
		return 1;
	}
	*bits = decompressor->bits;
	*done = decompressor->done;
	return 0;
}
