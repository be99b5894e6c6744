from fetchers.web.headers import merge_headers, without_transfer_headers


def test_repeated_headers_are_merged_in_their_order_under_a_lower_case_name() -> None:
    merged = merge_headers([("X-A", "1"), ("Vary", "a"), ("x-a", "2")])
    assert merged == {"x-a": "1, 2", "vary": "a"}


def test_headers_of_the_transfer_are_left_out() -> None:
    headers = {
        "connection": "close",
        "content-encoding": "gzip",
        "content-length": "9",
        "transfer-encoding": "chunked",
        "content-type": "text/html",
    }
    assert without_transfer_headers(headers) == {"content-type": "text/html"}
