from __future__ import annotations

import io
import json
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arrastre.cli import items
from arrastre.cli.items import ITEM_LIMIT, Item


class Trickle(io.RawIOBase):
    """A stream that gives as few bytes at a time as it likes."""

    def __init__(self, data: bytes, most: int, seed: int = 0) -> None:
        self._data, self._most, self._random = data, most, Random(seed)

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        size = min(size, self._random.randint(1, self._most))
        block, self._data = self._data[:size], self._data[size:]
        return block


def read(data: bytes | str, most: int = 1 << 16, seed: int = 0) -> list[Item]:
    stream: Any = Trickle(data.encode() if isinstance(data, str) else data, most, seed)
    return list(items.read(["-"], lambda: stream))


def texts(data: bytes | str, most: int = 1 << 16) -> list[str | None]:
    return [item.text if item.error is None else None for item in read(data, most)]


def reasons(data: bytes | str) -> list[str | None]:
    return [item.error.faults[0].reason if item.error else None for item in read(data)]


OBJECT = {"hands": [{"cards": ["1O", "SC"]}, {"cards": ['é]}"{[\\']}], "trump": "O", "points": [1, -2.5e3], "x": None}
LINE = "1O.SC/2O.4C O 0 - points=1-2"


@pytest.mark.parametrize("most", [1, 7, 1 << 16])
@pytest.mark.parametrize(
    "layout",
    [
        lambda o: json.dumps(o) + "\n" + json.dumps(o),
        lambda o: json.dumps(o, ensure_ascii=False) + "\r\n\r\n" + json.dumps(o) + "\r\n",
        lambda o: json.dumps(o) + json.dumps(o),
        lambda o: json.dumps(o, indent=2) + "\n" + json.dumps(o, indent="\t"),
        lambda o: json.dumps(o, indent=0) + "\n" + json.dumps(o, indent=0),
        lambda o: json.dumps([o, o]),
        lambda o: json.dumps([o, o], separators=(",", ":")) + "\n",
        lambda o: json.dumps([o, o], indent=4),
        lambda o: "[\n" + json.dumps(o) + ",\n" + json.dumps(o) + "\n]\n",
        lambda o: "\ufeff[" + json.dumps(o) + "]\n[]\n" + json.dumps(o) + ",\n",
    ],
)
def test_layouts_of_json(layout: Any, most: int) -> None:
    found = read(layout(OBJECT), most)
    assert [item.error for item in found] == [None, None]
    assert [json.loads(item.text) for item in found] == [OBJECT, OBJECT]
    assert [item.index for item in found] == [0, 1]


def test_lines_notes_and_places() -> None:
    found = read(f"\ufeff# teaches\r\n#  much\n\n{LINE}\r\n   {LINE}   \n{json.dumps(OBJECT, indent=1)}\n{LINE}")
    assert [item.text for item in found[:2] + found[3:]] == [LINE] * 3
    assert [item.notes for item in found] == [("teaches", "much"), (), (), ()]
    assert [item.line for item in found] == [4, 5, 6, 6 + json.dumps(OBJECT, indent=1).count("\n") + 1]
    assert found[0].place == "<stdin>:4"


def test_an_array_may_hold_texts() -> None:
    assert texts(json.dumps([LINE, OBJECT, "♠\n"])) == [LINE, json.dumps(OBJECT), "♠"]


def test_a_record_is_no_array() -> None:
    assert texts('[Event "x"]\n') == ['[Event "x"]']


@pytest.mark.parametrize(
    "bad",
    [
        '{"hands": [{"cards": ["1O", "SC"',
        '{"hands": [{"cards": ["1O", "SC',
        '{"hands": [}',
        '{"hands": "',
        "{",
        '{"a": 1} rest',
        '{"a": 1}}',
        "{" * 300,
        '{\n  "hands": [\n    "1O\n  ]\n}',
        "[[",
        "]",
        '"1O',
        "\x00\x01",
    ],
)
@pytest.mark.parametrize("most", [1, 1 << 16])
def test_one_bad_item_costs_no_other(bad: str, most: int) -> None:
    """However it is broken, the items before and after it stay whole, and it is one item itself."""
    for good in (json.dumps(OBJECT), LINE):
        found = texts(f"{good}\n{bad}\n{good}\n{good}\n", most)
        assert found[0] == found[2] == found[3] == good
        assert len(found) == 4
        assert found[1] not in (None, good)


@pytest.mark.parametrize("bad", ['{"hands": [{"cards": []},', '{"a":', '{"a": ['])
def test_a_line_that_could_go_on_takes_no_more_than_one_other(bad: str) -> None:
    good = json.dumps(OBJECT)
    assert texts(f"{good}\n{bad}\n{good}\n{good}\n{good}\n") == [good, f"{bad}\n{good}", good, good]


def test_array_cut_off() -> None:
    good = json.dumps(OBJECT)
    assert texts(f"[{good},\n{good},") == [good, good, None]
    assert reasons(f"[{good}") == [None, "BAD_JSON"]


@pytest.mark.parametrize("start", ["x", '{"a":"', '{"a":[', "[" * 9, '["', "#", '{"a":1,', '{"a":' + "[" * 255])
def test_a_huge_line_is_one_item_and_is_not_held(start: str) -> None:
    class Endless(io.RawIOBase):
        left = 200

        def readable(self) -> bool:
            return True

        def read(self, size: int = -1) -> bytes:
            self.left -= 1
            if self.left > 0:
                return (start.encode() if self.left == 199 else b"") + b"z" * (1 << 16)
            return f"\n{LINE}\n".encode() if self.left == 0 else b""

    stream: Any = Endless()
    found = list(items.read(["-"], lambda: stream))
    assert [(item.text, item.line) for item in found if item.error is None] == [(LINE, 2)]
    reasons = [item.error.faults[0].reason for item in found if item.error]
    assert reasons == {"#": [], '["': ["TOO_LONG", "BAD_JSON"]}.get(start, ["TOO_LONG"])


def test_the_longest_item() -> None:
    fits = "x" * ITEM_LIMIT
    assert texts(f"{fits}\n{fits}y\nz") == [fits, None, "z"]
    pretty = '{"a":"' + "x" * (ITEM_LIMIT - 9) + '"\n}'
    assert len(pretty) == ITEM_LIMIT
    assert texts(pretty) == [pretty]
    assert texts(f"{pretty[:-1]} }}\n{LINE}") == [None, LINE]


@pytest.mark.parametrize(
    ("junk", "found"),
    [
        (b"\n", 0),
        (b" \r\n", 0),
        (b",\n", 0),
        (b'{"a": 1, "b": [2]', 1),
        (b'"a":1,', 10_000_000 // 6 // 200_000 + 1),
        (b"[[],", 1),
    ],
)
def test_ten_megabytes_of_junk_take_no_time(junk: bytes, found: int) -> None:
    """Blank lines are swallowed at once, and where an item ends that is too long is not worth a search."""
    count = 10_000_000 // len(junk)
    if junk.endswith(b"1,"):
        # Sound objects of more than a megabyte, one on each line.
        data = (b"{" + junk * 200_000 + b'"b":1}\n') * (count // 200_000)
    else:
        data = b'{"x":' * (junk == b"[[],") + junk * count
    start = time.process_time()
    items_found = read(data + b"\n" + LINE.encode())
    assert time.process_time() - start < 3
    assert items_found[-1].text == LINE
    assert len(items_found) <= found + 1


def test_objects_longer_than_a_block_on_one_line() -> None:
    long = json.dumps({"hands": [["1O", {"x": "]}"}]] * 3000})
    assert texts(f"[{long},{long}]\n{long}{long}\n{LINE}", 1000) == [long] * 4 + [LINE]


def test_rubbish_is_refused_with_its_place() -> None:
    found = read(b"ab\xc3\xa9\xff\n" + LINE.encode() + b'\n{"a": "\xfe"}\n')
    assert [item.text for item in found] == ["", LINE, ""]
    first, last = (item.error.faults[0] for item in found if item.error)
    assert (first.reason, first.line, first.column) == ("NOT_UTF8", 1, 4)
    assert (last.reason, last.line, last.column) == ("NOT_UTF8", 3, 8)


@given(st.binary(max_size=300), st.integers(1, 40), st.integers())
def test_nothing_stops_the_reader_nor_depends_on_how_bytes_arrive(data: bytes, most: int, seed: int) -> None:
    pieces = b'{"a":[1,"x"],\n{}}\n[]#,' + data.translate(bytes(b'{}[]",:\n\\#a1O/ '[i % 15] for i in range(256)))
    for text in (data, pieces):
        whole = [(i.text, i.line, i.notes, i.error and i.error.faults) for i in read(text)]
        assert [(i.text, i.line, i.notes, i.error and i.error.faults) for i in read(text, most, seed)] == whole


@given(
    st.lists(
        st.tuples(
            st.recursive(
                st.none() | st.booleans() | st.integers() | st.text(max_size=8),
                lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
                max_leaves=8,
            ),
            st.sampled_from([None, 0, 1, 2]),
            st.booleans(),
        ),
        max_size=5,
    ),
    st.integers(1, 50),
    st.booleans(),
)
def test_any_json_objects_are_told_apart(
    given_items: list[tuple[Any, int | None, bool]], most: int, array: bool
) -> None:
    objects = [{"value": value} for value, _, _ in given_items]
    written = [
        json.dumps(each, indent=indent, ensure_ascii=escaped)
        for each, (_, indent, escaped) in zip(objects, given_items, strict=True)
    ]
    data = "[" + ",\n".join(written) + "]" if array else "\n".join(written)
    encoded = data.encode("utf-8", "surrogatepass")
    found = read(encoded, most)
    if "\\u" not in data and all(item.error is None for item in found):
        assert [json.loads(item.text) for item in found] == objects
    assert len(found) == len(objects)


def test_arguments(tmp_path: Path) -> None:
    file = tmp_path / "with spaces 1.txt"
    file.write_text(f"{LINE}\n{LINE}\n")
    given_items = [LINE, json.dumps(OBJECT), json.dumps([OBJECT]), str(file), f" {LINE}"]
    found = list(items.read(given_items, lambda: None))
    assert [item.text for item in found] == [LINE, json.dumps(OBJECT), json.dumps(OBJECT), LINE, LINE, LINE]
    assert [item.index for item in found] == [0, 1, 2, 3, 4, 5]
    assert [item.place for item in found] == ["", "", "", f"{file}:1", f"{file}:2", ""]


@pytest.mark.parametrize(
    ("argument", "reason"),
    [
        ("nowhere.json", "NOT_FOUND"),
        ("not here.json", "NOT_FOUND"),
        ("", "NOT_FOUND"),
        ("a\0b", "NOT_FOUND"),
        ("x" * 5000, "NOT_FOUND"),
        ("/", "IS_DIRECTORY"),
        ("-", "READ_FAILED"),
    ],
)
def test_what_cannot_be_read(argument: str, reason: str) -> None:
    (found,) = items.read([argument], lambda: None)
    assert found.error is not None
    assert (found.error.code, found.error.faults[0].reason) == ("UNREADABLE", reason)


def test_before_wait_is_told_when_the_writer_lags() -> None:
    import os

    reader, writer = os.pipe()
    calls: list[int] = []
    with os.fdopen(reader, "rb") as stream:
        os.write(writer, f"{LINE}\n{LINE}\n".encode())

        def before_wait() -> None:
            calls.append(len(seen))
            os.close(writer)

        seen: list[Item] = []
        seen.extend(items.read(["-"], lambda: stream, before_wait))
    assert calls == [2]
    assert len(seen) == 2
