"""Tests of listings: as S3, nginx, Apache, TheRock's CI and Python write them, and as they should not be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.common.program import ToolError
from tools.fetch.lock.run_listing import ListedFile, S3Page, is_s3_listing, merge, parse_html, parse_s3

URL = "https://host/bucket/?list-type=2"
DIRECTORY = "https://host/bucket/1-linux/"
NAMESPACE = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'


def s3(contents: str, rest: str = "<IsTruncated>false</IsTruncated>", namespace: str = NAMESPACE) -> bytes:
    """Return a page of S3's."""
    head = '<?xml version="1.0" encoding="UTF-8"?>\n'
    return f"{head}<ListBucketResult {namespace}><Name>b</Name>{rest}{contents}</ListBucketResult>".encode()


def contents(key: str, size: str = "7") -> str:
    return f'<Contents><Key>{key}</Key><ETag>"x"</ETag><Size>{size}</Size></Contents>'


@pytest.mark.parametrize("namespace", [NAMESPACE, ""])
def test_s3(namespace: str) -> None:
    page = s3(
        contents("1-linux/a_lib_generic.tar.zst", "12")
        + contents("1-linux/a&amp;b:+.tar.zst")
        + contents("1-linux/logs/x.tar.gz")
        + contents("1-linux/"),
        namespace=namespace,
    )
    assert is_s3_listing(page)
    assert parse_s3(page, "1-linux/", URL) == S3Page(
        [ListedFile("a_lib_generic.tar.zst", 12), ListedFile("a&b:+.tar.zst", 7)], None
    )


def test_s3_goes_on() -> None:
    rest = "<IsTruncated>true</IsTruncated><NextContinuationToken>a/b+c=</NextContinuationToken>"
    assert parse_s3(s3(contents("p/x"), rest), "p/", URL) == S3Page([ListedFile("x", 7)], "a/b+c=")


def test_s3_with_encoded_keys() -> None:
    rest = "<EncodingType>url</EncodingType><IsTruncated>false</IsTruncated>"
    assert parse_s3(s3(contents("p/a%3Ab%2B"), rest), "p/", URL).files == [ListedFile("a:b+", 7)]


@pytest.mark.parametrize(
    ("page", "message"),
    [
        (s3(contents("other/x")), "lists 'other/x', which is not below 'p/' as asked"),
        (s3(contents("p/x", "many")), "says that x has 'many' bytes; expected a number"),
        (s3(contents("p/x", "-1")), "says that x has '-1' bytes; expected a number"),
        (s3(contents("p/x", "")), "says that x has '' bytes; expected a number"),
        (s3("", "<IsTruncated>true</IsTruncated>"), "a truncated listing without a continuation token (ListObjectsV2)"),
        (s3("")[:-5], "expected a listing of S3 as XML: "),
        (b'<!DOCTYPE x [<!ENTITY a "b">]>' + s3(""), "expected a listing of S3, found XML with a document type"),
    ],
)
def test_s3_as_it_should_not_be(page: bytes, message: str) -> None:
    with pytest.raises(ToolError) as caught:
        parse_s3(page, "p/", URL)
    assert str(caught.value).startswith(f"{URL}: {message}")


NGINX = b"""<html>
<head><title>Index of /1-linux/</title></head>
<body>
<h1>Index of /1-linux/</h1><hr><pre><a href="../">../</a>
<a href="logs/">logs/</a>                                   21-Nov-2026 10:00                   -
<a href="a_lib_generic.tar.zst">a_lib_generic.tar.zst</a>   21-Nov-2026 10:00             1234567
<a href="a_lib_generic.tar.zst.sha256sum">a_lib_generic.tar.zst.sha256su..&gt;</a> 21-Nov-2026 10:00   98
<a href="b_lib_gfx950%3Axnack%2B.tar.zst">b_lib_gfx950:xnack+.tar.zst</a> 21-Nov-2026 10:00    12K
</pre><hr></body>
</html>
"""
APACHE = b"""<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 3.2 Final//EN">
<html><body><table>
<tr><th><a href="?C=N;O=D">Name</a></th><th><a href="?C=S;O=A">Size</a></th></tr>
<tr><td><a href="/bucket/">Parent Directory</a></td><td align="right">  - </td></tr>
<tr><td><a href="a_lib_generic.tar.zst">a_lib_generic.tar.zst</a></td>
<td align="right">2026-11-21</td><td>1.2M</td></tr></table></body></html>"""
THEROCK = b"""<!DOCTYPE html><html><head><meta charset="utf-8"></head><body><main><table>
<tbody><tr><td><a href="logs/index.html">logs/</a></td><td>&mdash;</td><td>&mdash;</td></tr>
<tr><td><a href="b_lib_gfx950%3Axnack%2B.tar.zst">b_lib_gfx950:xnack+.tar.zst</a></td><td>12 MB</td>
<td><time datetime="2026-11-21T10:00:00+00:00">2026-11-21 10:00 UTC</time></td></tr></tbody></table></main></body>
</html>"""
PYTHON = b"""<!DOCTYPE HTML><html lang="en"><body><h1>Directory listing for /1-linux/</h1><hr><ul>
<li><a href="a_lib_generic.tar.zst">a_lib_generic.tar.zst</a></li></ul><hr></body></html>"""


@pytest.mark.parametrize(
    ("page", "files"),
    [
        (
            NGINX,
            [
                ListedFile("a_lib_generic.tar.zst", 1234567),
                ListedFile("a_lib_generic.tar.zst.sha256sum", 98),
                ListedFile("b_lib_gfx950:xnack+.tar.zst"),
            ],
        ),
        (APACHE, [ListedFile("a_lib_generic.tar.zst")]),
        (THEROCK, [ListedFile("b_lib_gfx950:xnack+.tar.zst")]),
        (PYTHON, [ListedFile("a_lib_generic.tar.zst")]),
        (
            b'<a href="https://host/bucket/1-linux/x">x</a><a href="https://else/bucket/1-linux/y">y</a>',
            [ListedFile("x")],
        ),
        (b'<a href="/bucket/1-linux/x?versionId=1#top">x</a><a href="/x">x</a><a href="d/x">x</a>', [ListedFile("x")]),
    ],
    ids=["nginx", "apache", "therock", "python", "absolute", "others"],
)
def test_html(page: bytes, files: list[ListedFile]) -> None:
    assert parse_html(page, DIRECTORY, DIRECTORY) == files
    assert parse_html(page, DIRECTORY + "index.html", DIRECTORY) == files


@pytest.mark.parametrize("page", [b"", b'{"files": []}', b"<html>Welcome</html>", b"plain"])
def test_html_without_links(page: bytes) -> None:
    with pytest.raises(ToolError) as caught:
        parse_html(page, DIRECTORY, DIRECTORY)
    assert str(caught.value) == (
        f"{DIRECTORY}: expected an HTML page with links, or a listing of S3; found neither. Check --base-url"
    )


def test_html_that_is_no_text() -> None:
    with pytest.raises(ToolError, match="expected an HTML page with links: 'utf-8' codec can't decode"):
        parse_html(b"\x28\xb5\x2f\xfd\xff", DIRECTORY, DIRECTORY)


def test_sizes_that_contradict() -> None:
    assert merge([ListedFile("b"), ListedFile("a", 1), ListedFile("b", 2), ListedFile("a")], URL) == [
        ListedFile("a", 1),
        ListedFile("b", 2),
    ]
    with pytest.raises(ToolError) as caught:
        merge([ListedFile("a", 1), ListedFile("a", 2)], URL)
    assert str(caught.value) == f"{URL}: says that a has 1 bytes, and 2; check --base-url"


@given(st.binary(max_size=300))
def test_anything_is_a_listing_or_an_error(data: bytes) -> None:
    for page in (data, s3("")[:90] + data):
        try:
            parse_s3(page, "p/", URL)
        except ToolError as error:
            assert URL in str(error)  # noqa: PT017 - either is right
        try:
            parse_html(page, DIRECTORY, DIRECTORY)
        except ToolError as error:
            assert DIRECTORY in str(error)  # noqa: PT017
