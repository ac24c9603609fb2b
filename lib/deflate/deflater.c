/* libdeflate, in runs that can be joined.
 *
 * libdeflate's own function makes a whole stream, whose last block says so. libdeflate.patch takes that bit away; what
 * is here ends the run at a byte boundary instead. The source is included, not linked, because all that makes up a
 * stream is static in it. Nothing of libc is linked: the five functions that are missing are those of the process.
 */
#include "lib/deflate_compress.c"

#define STORED_HEADER_BYTES 5
#define STORED_BYTES_MAX 0xFFFF
/* So much of an input is judged at a time: compressed code objects begin and end anywhere between other bytes. */
#define PIECE_BYTES 65536
/* What is looked at of a piece to tell whether it is dense: samples, and then as much in one. */
#define SAMPLES 4
#define SAMPLE_BYTES 1024
/* A dense piece loses less than one of so many bytes. */
#define DENSE_SHARE 32

/* Writes an input as it is, as stored blocks (RFC 1951, 3.2.4). */
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

/* Bytes of output that any input of `size` bytes fits into, even if each of its pieces is a run. */
size_t deflater_bound(struct libdeflate_compressor *compressor, size_t size)
{
	const size_t runs = 1 + size / PIECE_BYTES;

	return libdeflate_deflate_compress_bound(compressor, size) + runs * 2 * (1 + STORED_HEADER_BYTES);
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

/* Whether bytes have values that are spread so evenly that coding them by their frequency gains nothing. Quick: most
 * pieces need no closer look. */
static bool is_even(const u8 *in, size_t size)
{
	u32 counts[256] = {0};
	u64 squares = 0;
	const u64 total = SAMPLES * SAMPLE_BYTES;

	for (int number = 0; number < SAMPLES; number++) {
		const u8 *next = in + (size - SAMPLE_BYTES) / (SAMPLES - 1) * number;

		for (int i = 0; i < SAMPLE_BYTES; i++)
			counts[next[i]]++;
	}
	for (int value = 0; value < 256; value++)
		squares += (u64)counts[value] * counts[value];
	return squares < 2 * total * total / 256;
}

/* Whether deflating the middle of a piece gains next to nothing, because it is compressed already. */
static bool is_dense(struct libdeflate_compressor *probe, const u8 *in, size_t size, u8 *out, size_t room)
{
	const size_t sample = SAMPLES * SAMPLE_BYTES;
	size_t deflated;

	if (size < 2 * sample || !is_even(in, size))
		return false;
	deflated = deflater_run(probe, in + (size - sample) / 2, sample, out, room);
	return !deflated || deflated > sample / DENSE_SHARE * (DENSE_SHARE - 1);
}

/* As deflater_run; pieces that are dense, as a quick compressor finds, are stored at once, also if they repeat. */
size_t deflater_run_unless_dense(struct libdeflate_compressor *compressor, struct libdeflate_compressor *probe,
				 const u8 *in, size_t size, u8 *out, size_t room)
{
	const u8 *const end = in + size;
	const u8 *begin = in, *next = in;
	size_t written = 0;
	bool was_dense = false;

	do {
		const size_t rest = end - next;
		const size_t piece = rest < 2 * PIECE_BYTES ? rest : PIECE_BYTES;
		const bool dense = piece && is_dense(probe, next, piece, out + written, room - written);

		if (next > begin && dense != was_dense) {
			written += was_dense ? store(begin, next - begin, out + written, room - written)
					     : deflater_run(compressor, begin, next - begin, out + written, room - written);
			begin = next;
		}
		was_dense = dense;
		next += piece;
	} while (next < end);
	return written + (was_dense ? store(begin, end - begin, out + written, room - written)
				    : deflater_run(compressor, begin, end - begin, out + written, room - written));
}
