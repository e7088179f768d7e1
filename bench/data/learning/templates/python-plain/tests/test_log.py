from app.log import format_line


def test_an_error_line_begins_with_its_level():
    assert format_line("ERROR", "disk is full") == "ERROR disk is full"


def test_an_unknown_level_raises_an_error():
    try:
        format_line("FATAL", "x")
    except ValueError as error:
        print(f"expected: {error}")
    else:
        raise AssertionError("no error")
