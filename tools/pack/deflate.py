"""Raw deflate (RFC 1951) in blocks that can be joined.

Every block is compressed on its own, without a window into the one before, and ends on
a sync flush: an empty stored block that leaves the stream at a byte boundary and not
finished. So blocks can be made by many threads and many actions, laid one after the
other, and closed with `FINAL_BLOCK`, as a zip member or as part of one.
"""

import zlib
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

#: Bytes of input in a block: large enough to compress well, small enough for threads to share a file.
BLOCK_BYTES = 1 << 20
#: An empty block with BFINAL set, in fixed Huffman codes: what closes a stream of joined blocks.
FINAL_BLOCK = b"\x03\x00"
#: Build setting `compression` -> zlib's level.
LEVELS = {"fast": 1, "balanced": 1, "small": 9}


def deflate_block(block: bytes, level: int) -> bytes:
    """Deflate one block; one that does not shrink is stored."""
    compressor = zlib.compressobj(level, zlib.DEFLATED, -zlib.MAX_WBITS)
    deflated = compressor.compress(block) + compressor.flush(zlib.Z_SYNC_FLUSH)
    if len(deflated) < len(block):
        return deflated
    compressor = zlib.compressobj(zlib.Z_NO_COMPRESSION, zlib.DEFLATED, -zlib.MAX_WBITS)
    return compressor.compress(block) + compressor.flush(zlib.Z_SYNC_FLUSH)


def blocks(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Cut a stream of chunks of any size into blocks of BLOCK_BYTES; the last may be shorter."""
    rest = b""
    for chunk in chunks:
        data = rest + chunk
        whole = len(data) - len(data) % BLOCK_BYTES
        for start in range(0, whole, BLOCK_BYTES):
            yield data[start : start + BLOCK_BYTES]
        rest = data[whole:]
    if rest:
        yield rest


def deflate(stream: Iterable[bytes], level: int, pool: ThreadPoolExecutor, ahead: int) -> Iterator[bytes]:
    """Deflate blocks in the pool's threads and yield the results in order.

    At most `ahead` blocks are in memory beyond the one that is yielded.
    """
    waiting: deque[Future[bytes]] = deque()
    for block in stream:
        waiting.append(pool.submit(deflate_block, block, level))
        if len(waiting) > ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()
