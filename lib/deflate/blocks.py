"""Raw deflate (RFC 1951) in blocks that can be joined.

Every block is compressed on its own, without a window into the one before, and leaves
the stream at a byte boundary and not finished. So blocks can be made by many threads
and many actions, laid one after the other, and closed with `FINAL_BLOCK`, as a zip
member or as part of one.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Given = TypeVar("Given")
Made = TypeVar("Made")

#: Bytes of input in a block: large enough to compress well, small enough for threads to share a file.
BLOCK_BYTES = 1 << 20
#: An empty block with BFINAL set, in fixed Huffman codes: what closes a stream of joined blocks.
FINAL_BLOCK = b"\x03\x00"
#: libdeflate's levels: for the few bytes that only link knows, and for no deflating.
SMALLEST, STORED = 9, 0


def blocks(chunks: Iterable[bytes], size: int = BLOCK_BYTES) -> Iterator[bytes]:
    """Cut a stream of chunks of any size into blocks of `size` bytes; the last may be shorter."""
    rest = bytearray()
    for chunk in chunks:
        if not rest and len(chunk) == size:  # As files are read.
            yield chunk
            continue
        rest += chunk
        while len(rest) >= size:
            yield bytes(rest[:size])
            del rest[:size]
    if rest:
        yield bytes(rest)


def in_order(
    work: Callable[[Given], Made], stream: Iterable[Given], pool: ThreadPoolExecutor, ahead: int
) -> Iterator[Made]:
    """Do the work on each block in the pool's threads, and yield the results in the blocks' order.

    At most `ahead` blocks are in memory beyond the yielded block.
    """
    waiting: deque[Future[Made]] = deque()
    for block in stream:
        waiting.append(pool.submit(work, block))
        if len(waiting) > ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()
