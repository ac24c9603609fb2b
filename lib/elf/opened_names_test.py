"""Tests of finding names of libraries among constants."""

import io

from develop.testing.elf_sample import Sample
from develop.testing.tiny_elf import program
from lib.elf.opened_names import find_names, read_opened_names
from lib.elf.reader import read_elf


def test_whole_strings_only() -> None:
    texts = [
        "libfoo.so",
        "libfoo.so.1",
        "lib-a_b+c.so.1.2.3",
        "../lib/libbar.so.4",
        "/opt/x y/libz.so",
        "libLLVM.so.23.0git",
    ]
    assert list(find_names(b"\0" + "\0".join(texts).encode() + b"\0")) == [
        "libfoo.so",
        "libfoo.so.1",
        "lib-a_b+c.so.1.2.3",
        "../lib/libbar.so.4",
        "/opt/x y/libz.so",
        "libLLVM.so.23.0git",
    ]
    others = ["lib%s.so", "opens libfoo.so", "libfoo.source", "foo.so", "libfoo.so.x", "libfoo.so.1 ", "lib.so" * 200]
    assert list(find_names(b"\0" + "\0".join(others).encode() + b"\0")) == []
    assert list(find_names(b"libfoo.so\0")) == []


def test_across_the_pieces_that_are_read() -> None:
    for shift in range(-12, 3):
        content = b"x" * ((1 << 20) + shift) + b"\0libfoo.so.1\0" + b"y" * 99 + b"\0libbar.so"
        file = io.BytesIO(program(".rodata.str1.1", content))
        assert read_opened_names(file, read_elf(file, "a")) == ("libbar.so", "libfoo.so.1"), shift


def test_string_tables_do_not_count() -> None:
    file = io.BytesIO(Sample(needed=("libold.so.1",), symbols=("libother.so",)).build())
    assert read_opened_names(file, read_elf(file, "a")) == ()
