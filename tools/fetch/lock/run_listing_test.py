"""Tests of listings: as S3 and servers like it write them, and as they should not be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.common.program import ToolError
from tools.fetch.lock.run_listing import ListedFile, S3Page, is_s3_listing, parse_s3

URL = "https://host/bucket/?list-type=2"
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


@given(st.binary(max_size=300))
def test_anything_is_a_listing_or_an_error(data: bytes) -> None:
    for page in (data, s3("")[:90] + data):
        try:
            parse_s3(page, "p/", URL)
        except ToolError as error:
            assert URL in str(error)  # noqa: PT017 - either is right
