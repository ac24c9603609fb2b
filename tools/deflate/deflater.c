/* libdeflate, in runs that can be joined.
 *
 * libdeflate's own function makes a whole stream, whose last block says so. libdeflate.patch takes that bit away; what
 * is here ends the run at a byte boundary instead. The source is included, not linked, because all that makes up a
 * stream is static in it. Nothing of libc is linked: the five functions that are missing are those of the process.
 */
#include "lib/deflate_compress.c"

#define STORED_HEADER_BYTES 5
#define STORED_BYTES_MAX 0xFFFF

/* Writes an input too short to deflate as stored blocks (RFC 1951, 3.2.4). */
static size_t store(const u8 *in, size_t size, u8 *out, size_t room)
{
	u8 *next = out;

	while (size) {
		size_t length = MIN(size, STORED_BYTES_MAX);

		if (room - (size_t)(next - out) < STORED_HEADER_BYTES + length)
			return 0;
		*next++ = DEFLATE_BLOCKTYPE_UNCOMPRESSED << 1;
		put_unaligned_le16(length, next);
		put_unaligned_le16(~length, next + 2);
		memcpy(next + 4, in, length);
		next += 4 + length;
		in += length;
		size -= length;
	}
	return next - out;
}

/* Bytes of output that any input of `size` bytes fits into. */
size_t deflater_bound(struct libdeflate_compressor *compressor, size_t size)
{
	return libdeflate_deflate_compress_bound(compressor, size) + 1 + STORED_HEADER_BYTES;
}

/* Deflates `size` bytes to blocks none of which is final, up to a byte boundary.
 * Returns how many bytes were written, 0 if `room` was not enough. */
size_t deflater_run(struct libdeflate_compressor *compressor, const u8 *in, size_t size, u8 *out, size_t room)
{
	struct deflate_output_bitstream stream = {0};

	if (size <= compressor->max_passthrough_size)
		return store(in, size, out, room);
	if (room < 1 + STORED_HEADER_BYTES)
		return 0;
	stream.next = out;
	stream.end = out + room - 1 - STORED_HEADER_BYTES;
	compressor->impl(compressor, in, size, &stream);
	if (stream.overflow)
		return 0;
	if (stream.bitcount) {
		/* An empty stored block, as a sync flush has it: three bits of header, then on a byte boundary LEN and NLEN. */
		*stream.next++ = stream.bitbuf;
		if (stream.bitcount > 5)
			*stream.next++ = 0;
		put_unaligned_le32(0xFFFF0000, stream.next);
		stream.next += 4;
	}
	return stream.next - out;
}
