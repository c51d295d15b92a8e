"""Reads items - positions and deals as somebody wrote them - out of files, arguments and standard input.

Memory is bounded, however long the input is: one item is held at a time.

A source may hold one-line position texts, JSON lines, JSON objects printed over many lines, JSON arrays of either
(of objects or of position texts), and any mixture of them. Blank lines are skipped; a line that begins with ``#`` is
a note, kept for the item below it. What cannot be understood becomes an item with an error, and reading goes on at
the next line that can begin an item. The spelling of an item is not looked at here: that is ``arrastre.notation``.

Whatever is compressed with gzip, standard input included, is read as what was compressed.

Records are told from positions by their content: a text that begins with a tag (``[Event "…"]``), an object with
``deals`` or ``events``. They may be mixed with positions, and each of their deals is an item.
"""

from __future__ import annotations

import errno
import glob
import io
import json
import os
import re
import select
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import BinaryIO, ClassVar

from arrastre.errors import ArrastreError, Fault, InvalidSyntax
from arrastre.game import Deal
from arrastre.record import MAX_JSON, MAX_LINE, DealItem

ITEM_LIMIT = 1 << 20
"""Bytes of the longest item that is read; the rest of a longer one is skipped without being held."""

STDIN = "-"
"""The argument that stands for standard input."""

_BLOCK = 1 << 16
_DEPTH_LIMIT = 256
_NOTES_LIMIT = 40
_NOTE_WIDTH = 400
_WINDOWS = (1 << 13, 1 << 16, ITEM_LIMIT)
_DECODER = json.JSONDecoder()

_STRING = re.compile(rb'"[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+"')
# A run of all that neither opens nor closes anything (whole strings included), or one byte that may.
_TOKEN = re.compile(rb'(?:[^"{}\[\]\n]++|' + _STRING.pattern + rb')++|[{}\[\]\n"]')
_LINE_END = re.compile(rb"\r\n?")
_MARK = b"\xef\xbb\xbf"
_GZIP = b"\x1f\x8b"
_GZIP_FORM = 16 + zlib.MAX_WBITS
_BLANK = b" \t\r\f\v\n"
_BETWEEN = re.compile(rb"[ \t\r\f\v\n,]*+")
_TEXT_LIKE = re.compile(rb'[^\s"]*/')
_BLANKS = re.compile(rb"[ \t\r]*+")
_REST = re.compile(rb"[ \t\r,]*+")
_TAG = re.compile(rb'\[[ \t]*[A-Za-z]\w*[ \t]+"')
_TAG_NAME = 64
_DEAL_END = re.compile(rb"\s*(?:\[\s*Result\b|\*\s*$)", re.IGNORECASE)
_NAME = re.compile(rb'"[^"\n]*"[ \t]*:')
_RECORD_FIELD = re.compile(rb'"(?:deals|events)"\s*:')
_FILE_NAME = re.compile(r"\.(json|jsonl|ndjson|txt)(\.gz)?$", re.IGNORECASE)
_CLOSES = {ord("}"): ord("{"), ord("]"): ord("[")}


class UnreadableError(ArrastreError):
    """A file that cannot be opened or read."""

    code: ClassVar[str] = "UNREADABLE"


@dataclass(frozen=True, slots=True)
class Item:
    """One thing handed in: its number in the whole input (from 0), its text, and where it came from.

    ``source`` is the file's name, ``-`` for standard input, empty for an argument; ``line`` counts from 1. ``notes``
    are the comment lines above it. ``error`` says why there is no text to look at. A ``deal`` of a record comes without
    its text; with an ``error`` besides, it has faults.
    """

    index: int
    source: str
    line: int
    text: str
    notes: tuple[str, ...] = ()
    error: ArrastreError | None = None
    deal: Deal | None = None

    @property
    def place(self) -> str:
        """The file and line, as people look for it; empty for an argument."""
        source = "<stdin>" if self.source == STDIN else self.source
        return f"{source}:{self.line}" if source and self.line else source


@dataclass(frozen=True, slots=True)
class Records:
    """How records are read: ``read`` makes deals of lines, as :func:`arrastre.record.read_deals` does.

    ``only``: everything is taken for a record, whatever it looks like.
    """

    read: Callable[[Iterable[bytes]], Iterator[DealItem]]
    only: bool = False


def read(
    arguments: Iterable[str],
    stdin: Callable[[], BinaryIO | None],
    before_wait: Callable[[], None] = lambda: None,
    records: Records | None = None,
    advanced: Callable[[int], None] = lambda _: None,
) -> Iterator[Item]:
    """All items of the arguments, in order; an argument is a file's name, ``-``, a text or JSON.

    ``before_wait`` is called before a read that may have to wait for whoever writes the input, ``advanced`` with the
    number of bytes after each one. Without ``records`` everything is taken for positions.
    """
    index = 0
    for argument in arguments:
        for item in _argument(argument, stdin, before_wait, records, advanced):
            yield replace(item, index=index)
            index += 1


def _argument(
    argument: str,
    stdin: Callable[[], BinaryIO | None],
    before_wait: Callable[[], None],
    records: Records | None,
    advanced: Callable[[int], None],
) -> Iterator[Item]:
    if argument == STDIN:
        stream = stdin()
        if stream is None:
            yield _unreadable(STDIN, errno.EBADF)
        else:
            try:
                yield from _Scanner(stream, STDIN, before_wait, records, advanced).items()
            except OSError as error:
                yield _unreadable(STDIN, error.errno or errno.EIO, error.strerror)
    elif _is_text(argument):
        data = argument.encode("utf-8", "surrogateescape")
        yield from _Scanner(io.BytesIO(data), "", before_wait, records).items()
    else:
        try:
            # Unbuffered: a scanner holds its own buffer, and must get what a pipe has without waiting for more.
            with open(argument, "rb", buffering=0) as file:  # noqa: PTH123
                yield from _Scanner(file, argument, before_wait, records, advanced).items()
        except ValueError:
            yield _unreadable(argument, errno.ENOENT)
        except OSError as error:
            yield _unreadable(argument, error.errno or errno.EIO, error.strerror)


def files(argument: str) -> list[str]:
    """The files that an argument means: those of a folder and of the folders in it that hold items by their names
    (``.txt``, ``.json``, ``.jsonl``, ``.ndjson``, with ``.gz`` or without), or those that fit a pattern (``*``),
    sorted; otherwise the argument itself.
    """
    if argument == STDIN or _is_text(argument):
        return [argument]
    try:
        if os.path.isdir(argument):  # noqa: PTH112
            found = glob.glob(os.path.join(glob.escape(argument), "**"), recursive=True)  # noqa: PTH118, PTH207
            return sorted(each for each in found if _FILE_NAME.search(each) and not os.path.isdir(each))  # noqa: PTH112
        if glob.has_magic(argument) and not os.path.lexists(argument):
            found = sorted(each for each in glob.glob(argument, recursive=True))  # noqa: PTH207
            return [one for each in found for one in (files(each) if os.path.isdir(each) else [each])]  # noqa: PTH112
    except ValueError:
        pass
    return [argument]


def _is_text(argument: str) -> bool:
    """Whether an argument is an item itself. Anything without a blank in it is the name of a file."""
    start = argument.lstrip()[:1]
    if start in ("{", "["):
        return True
    if not argument.strip() or not re.search(r"\s", argument) or _FILE_NAME.search(argument):
        return False
    try:
        return not os.path.lexists(argument)
    except ValueError:
        return True


def unreadable(source: str, error: OSError) -> UnreadableError:
    """What is wrong with an input that cannot be read."""
    item = _unreadable(source, error.errno or errno.EIO)
    assert isinstance(item.error, UnreadableError)
    return item.error


def _unreadable(source: str, number: int, said: str | None = None) -> Item:
    said = said or os.strerror(number)
    reason = {
        errno.ENOENT: "NOT_FOUND",
        errno.ENOTDIR: "NOT_FOUND",
        errno.ENAMETOOLONG: "NOT_FOUND",
        errno.EISDIR: "IS_DIRECTORY",
        errno.EACCES: "NO_PERMISSION",
        errno.EPERM: "NO_PERMISSION",
    }.get(number, "READ_FAILED")
    shown = source if len(source) <= 200 else source[:200] + "…"
    return Item(0, shown, 0, "", error=UnreadableError(f"cannot read {shown}: {said}", [Fault("", reason, said)]))


def _too_long(line: int, limit: int = ITEM_LIMIT) -> InvalidSyntax:
    message = f"the item is longer than {limit} bytes"
    return InvalidSyntax("the item is too long", [Fault("", "TOO_LONG", message, line=line)])


def _moved(error: ArrastreError, lines: int) -> ArrastreError:
    """An error so many lines further down."""
    if not lines:
        return error
    return type(error)(error.message, [_lowered(each, lines) for each in error.faults])


def _moved_deal(deal: Deal, lines: int) -> Deal:
    """A deal with its faults so many lines further down."""
    if not lines or not deal.faults:
        return deal
    steps = (step if step.breach is None else replace(step, breach=_lowered(step.breach, lines)) for step in deal.steps)
    return replace(deal, steps=tuple(steps), faults=tuple(_lowered(each, lines) for each in deal.faults))


def _lowered(fault: Fault, lines: int) -> Fault:
    return fault if fault.line is None else replace(fault, line=fault.line + lines)


class _Scanner:
    """Cuts a stream of bytes into items. Holds one block and the item being read, never more."""

    def __init__(
        self,
        stream: BinaryIO | io.RawIOBase,
        source: str,
        before_wait: Callable[[], None],
        records: Records | None = None,
        advanced: Callable[[int], None] = lambda _: None,
    ) -> None:
        # A BufferedReader's read() would wait for a whole block; read1() and a raw read() take what there is.
        self._take: Callable[[int], bytes | None] = getattr(stream, "read1", stream.read)
        self._advanced = advanced
        self._unzip: _Unzip | None = None
        self._begun = False
        self._source = source
        self._before_wait = before_wait
        self._records = records
        self._buffer = bytearray()
        self._at = 0
        self._line = 1
        self._ended = False
        # Whether the last block ended with a carriage return, of which a line feed may still be to come.
        self._returned = False
        try:
            self._descriptor = stream.fileno()
        except (OSError, ValueError):
            self._descriptor = -1

    def items(self) -> Iterator[Item]:
        """The stream's items; an OSError of the stream passes through."""
        notes: list[str] = []
        arrays = 0
        while True:
            byte = self._skip_between()
            if byte == ord("]") and arrays:
                self._at += 1
                arrays -= 1
                continue
            if byte == ord("[") and self._opens_array():
                self._at += 1
                arrays += 1
                continue
            if byte == ord("#"):
                note = self._take_line()
                if note is not None and len(notes) < _NOTES_LIMIT:
                    notes.append(note.decode("utf-8", "replace").lstrip("# \t").rstrip()[:_NOTE_WIDTH])
                continue
            line = self._line
            if byte is None:
                break
            if self._records is not None and self._begins_record(self._records):
                yield from self._deals(self._records, tuple(notes), bool(arrays))
                notes.clear()
                continue
            if byte == ord("{"):
                data = self._take_object()
            elif byte == ord('"') and arrays:
                data = self._take_string()
            else:
                data = self._take_line()
            yield self._item(data, line, tuple(notes))
            notes.clear()
        if arrays:
            fault = Fault("", "BAD_JSON", "the input ends inside a JSON array", line=self._line)
            yield Item(0, self._source, self._line, "", error=InvalidSyntax("the input is cut off", [fault]))

    def _item(self, data: bytes | None, line: int, notes: tuple[str, ...]) -> Item:
        if data is None:
            return Item(0, self._source, line, "", notes, _too_long(line))
        try:
            return Item(0, self._source, line, data.decode("utf-8").strip(), notes)
        except UnicodeDecodeError as error:
            column = len(data[: error.start].decode("utf-8", "replace")) + 1
            fault = Fault("", "NOT_UTF8", f"byte 0x{data[error.start]:02x} is not UTF-8", line=line, column=column)
            return Item(0, self._source, line, "", notes, InvalidSyntax("the item is no text", [fault]))

    # Records.

    def _begins_record(self, records: Records) -> bool:
        """Whether a record begins here."""
        if records.only:
            return True
        if self._buffer[self._at] == ord("{"):
            return self._is_record()
        # No further than the quote or the end of the line: more may be a long time coming.
        offset = 1
        while offset < _TAG_NAME and self._more(offset) and self._buffer[self._at + offset] not in b'"\n':
            offset += 1
        return _TAG.match(self._buffer, self._at) is not None

    def _is_record(self) -> bool:
        """Whether the JSON object that begins here has what only records have. Looks no further than its end."""
        offset = depth = 0
        while offset <= MAX_JSON and self._more(offset):
            match = _TOKEN.match(self._buffer, self._at + offset)
            assert match is not None  # any byte begins a token
            byte, end = match.group()[0], match.end() - self._at
            if byte == ord('"') and match.group() == b'"':
                # A string that is not closed: it may go on in the next block, but not on the next line.
                if self._buffer.find(b"\n", self._at + offset) >= 0 or not self._fill():
                    return False
                continue
            if byte in b"{[":
                depth += 1
            elif byte in b"}]":
                depth -= 1
                if not depth:
                    return False
            elif end == len(self._buffer) - self._at and self._fill():
                continue  # a run that goes on in the next block
            elif depth == 1 and _RECORD_FIELD.search(match.group()):
                return True
            offset = end
        return False

    def _is_object(self, offset: int) -> bool:
        """Whether the brace there begins a JSON object, and no comment."""
        offset += 1
        while self._more(offset) and self._buffer[self._at + offset] in b" \t\r\n":
            offset += 1
        size = self._line_size(offset)
        end = len(self._buffer) if size is None else self._at + size
        return _NAME.match(self._buffer, self._at + offset, end) is not None

    def _deals(self, records: Records, notes: tuple[str, ...], in_array: bool) -> Iterator[Item]:
        """The deals of the record that begins here, and of those that follow it."""
        refused: list[Item] = []
        before = self._line - 1
        for found in records.read(self._record_lines(records, in_array, refused)):
            error = None if found.error is None else _moved(found.error, before)
            deal = None if found.deal is None else _moved_deal(found.deal, before)
            yield Item(0, self._source, found.line + before, "", notes, error, deal)
            notes = ()
        yield from refused

    def _record_lines(self, records: Records, in_array: bool, refused: list[Item]) -> Iterator[bytes]:
        """The lines from here on, up to something that belongs to no record; an object comes as a whole."""
        begun = in_deal = False
        while self._more(0):
            if self._skip_mark():
                continue
            blanks = b""
            if self._buffer[self._at] in b" \t\r":
                match = _BLANKS.match(self._buffer, self._at)
                blanks = match.group() if match else b""
            offset = len(blanks)
            byte = self._buffer[self._at + offset] if self._more(offset) else None
            if byte == ord("]") and in_array:
                self._at += offset
                return
            if byte == ord("{") and (in_array or self._is_object(offset)):
                self._at += offset
                if not records.only and not self._is_record():
                    return
                line = self._line
                data = self._take_object(MAX_JSON)
                if data is None:
                    refused.append(Item(0, self._source, line, "", (), _too_long(line, MAX_JSON)))
                    return
                yield blanks + data
                in_deal = False
                match = _REST.match(self._buffer, self._at) if self._more(0) else None
                self._at = match.end() if match else self._at
                if self._more(0) and self._buffer[self._at] != ord("\n"):
                    return  # lines are counted anew for what follows on this one
            elif in_array:
                if not begun:
                    line = self._line
                    self._take_line()
                    fault = Fault("", "NOT_A_RECORD", "a record in a JSON array is an object", line=line)
                    refused.append(Item(0, self._source, line, "", (), InvalidSyntax("this is no record", [fault])))
                return
            else:
                if not (records.only or in_deal or byte is None or byte in b"\n#[{"):
                    return
                data = self._take_line()
                yield b" " * (MAX_LINE + 1) if data is None else data
                if data is not None and data.strip() and byte != ord("#"):
                    in_deal = not _DEAL_END.match(data)
            begun = True
            if self._more(0):
                self._at += 1
                self._line += 1

    # Reading and skipping. `_at` is the first byte of the buffer that has not been dealt with.

    def _fill(self) -> bool:
        """Read another block; False at the end."""
        if self._ended:
            return False
        if self._at:
            del self._buffer[: self._at]
            self._at = 0
        if self._descriptor >= 0:
            try:
                ready = bool(select.select([self._descriptor], [], [], 0)[0])
            except (OSError, ValueError):
                ready = False
            if not ready:
                self._before_wait()
        block = self._block()
        if not block:
            self._ended = True
            return False
        if self._returned and block.startswith(b"\n"):
            block = block[1:]
            self._returned = False
            if not block:
                return self._fill()
        self._returned = block.endswith(b"\r")
        self._buffer += _LINE_END.sub(b"\n", block) if b"\r" in block else block
        return True

    def _block(self) -> bytes:
        """What comes next, unzipped if need be; nothing at the end."""
        if self._unzip is not None:
            return self._unzip.read(self._raw)
        block = self._raw()
        if not self._begun and block:
            self._begun = True
            if block == _GZIP[:1]:
                block += self._raw()
            if block.startswith(_GZIP):
                self._unzip = _Unzip(block)
                return self._unzip.read(self._raw)
        return block

    def _raw(self) -> bytes:
        block = self._take(_BLOCK) or b""
        self._advanced(len(block))
        return block

    def _more(self, offset: int) -> bool:
        """Whether there is a byte `offset` bytes on."""
        while self._at + offset >= len(self._buffer):
            if not self._fill():
                return False
        return True

    def _skip_between(self) -> int | None:
        """Go to the next byte that is neither white space nor a comma; None at the end."""
        while self._more(0):
            match = _BETWEEN.match(self._buffer, self._at)
            end = match.end() if match else self._at
            self._line += self._buffer.count(b"\n", self._at, end)
            self._at = end
            if end < len(self._buffer) and not self._skip_mark():
                return self._buffer[end]
        return None

    def _skip_mark(self) -> bool:
        """Pass over a byte order mark; files that were put together have them in the middle."""
        found = self._buffer[self._at] == _MARK[0] and self._more(2) and self._buffer.startswith(_MARK, self._at)
        if found:
            self._at += len(_MARK)
        return found

    def _take_line(self) -> bytes | None:
        """The rest of the line; None, if it is too long to hold."""
        size = self._line_size(0)
        if size is None:
            self._skip_line()
            return None
        data = bytes(self._buffer[self._at : self._at + size])
        self._at += size
        return data

    def _line_size(self, offset: int) -> int | None:
        """How many bytes from `_at` to the end of the line that holds `offset`; None if beyond the limit."""
        while True:
            end = self._buffer.find(b"\n", self._at + offset)
            if end >= 0:
                return end - self._at if end - self._at <= ITEM_LIMIT else None
            offset = len(self._buffer) - self._at
            if offset > ITEM_LIMIT:
                return None
            if not self._fill():
                return offset

    def _skip_line(self) -> None:
        """Go to the end of the line, holding nothing."""
        while True:
            end = self._buffer.find(b"\n", self._at)
            if end >= 0:
                self._at = end
                return
            self._at = len(self._buffer)
            if not self._fill():
                return

    def _opens_array(self) -> bool:
        """Whether the bracket here opens an array of items (a record's ``[Event "…"]`` does not)."""
        offset = 1
        while self._more(offset):
            byte = self._buffer[self._at + offset]
            if byte not in b" \t\r\n":
                return byte in b'{"]'
            if offset > _BLOCK:
                return True
            offset += 1
        return True

    def _take_string(self) -> bytes | None:
        """A JSON string, unquoted; or, if it is none, the rest of the line."""
        size = self._line_size(0)
        end = len(self._buffer) if size is None else self._at + size
        match = _STRING.match(self._buffer, self._at, end)
        if match is None:
            return self._take_line()
        token = bytes(match.group())
        try:
            text = json.loads(token)
        except ValueError:
            return self._take_line()
        self._at = match.end()
        return str(text).encode("utf-8", "surrogatepass")

    def _take_object(self, limit: int = ITEM_LIMIT) -> bytes | None:
        """A JSON object, over as many lines as it takes to close it; None, if it is too long to hold.

        One that goes wrong ends where the next item seems to begin, so that one bad item costs no other.
        """
        quick = self._quick_object()
        if quick is not None:
            return quick
        held = _Held(limit)
        stack = bytearray()
        last = 0
        broken = False
        while self._more(0):
            if broken:
                end = self._buffer.find(b"\n", self._at)
                if end != self._at:
                    self._eat(held, (len(self._buffer) if end < 0 else end) - self._at)
                    continue
                token = b"\n"
            else:
                match = _TOKEN.match(self._buffer, self._at)
                assert match is not None  # any byte begins a token
                token = match.group()
                if token == b'"' and self._buffer.find(b"\n", self._at) < 0:
                    # A string that is not closed yet: it may go on in the next block.
                    broken = len(self._buffer) - self._at > ITEM_LIMIT or not self._fill()
                    continue
            self._eat(held, len(token))
            # Where an item ends that is too long to be held is not worth a closer look: at some start of a line.
            broken = broken or held.dropped
            byte = token[0]
            if byte == ord("\n"):
                self._line += 1
                if self._begins_item(stack, last, broken):
                    break
                continue
            if byte not in b'{}[]"' or len(token) > 1:
                last = (token.rstrip(_BLANK) or bytes([last]))[-1]
                continue
            last = byte
            if token == b'"' or (byte in _CLOSES and stack[-1] != _CLOSES[byte]):
                broken = True
            elif byte in b"{[":
                stack.append(byte)
                broken = len(stack) > _DEPTH_LIMIT
            elif byte in _CLOSES:
                stack.pop()
                if not stack:
                    self._eat_garbage(held)
                    break
        return held.result()

    def _quick_object(self) -> bytes | None:
        """The object that begins here, if it is sound, and short or all on this line; else None."""
        for size in _WINDOWS:
            # Decoded so that lengths in bytes can be told even where the bytes are no UTF-8.
            window = self._buffer[self._at : self._at + size].decode("utf-8", "surrogateescape")
            try:
                _, end = _DECODER.raw_decode(window)
                break
            except (ValueError, RecursionError):
                line = self._line_size(0)
                if line is not None and line <= size:
                    return None
        else:
            return None
        held = _Held(ITEM_LIMIT)
        self._line += window.count("\n", 0, end)
        self._eat(held, end if window.isascii() else len(window[:end].encode("utf-8", "surrogateescape")))
        self._eat_garbage(held)
        return held.result()

    def _eat(self, held: _Held, size: int) -> None:
        held.add(self._buffer[self._at : self._at + size])
        self._at += size

    def _eat_garbage(self, held: _Held) -> None:
        """After an object: what follows on its line and can be neither an item nor the rest of an array."""
        offset = 0
        while self._more(offset):
            byte = self._buffer[self._at + offset]
            if byte in b",]{#\n":
                return
            if byte not in b" \t\r":
                held.add(self._take_line())
                return
            offset += 1

    def _begins_item(self, stack: bytearray, last: int, broken: bool) -> bool:
        """At the start of a line inside an object: whether a new item begins here, and the object breaks off."""
        if not self._more(0):
            return False
        byte = self._buffer[self._at]
        if byte in b' \t\r\n"}][,:':
            return False
        if byte == ord("{"):
            return broken or not (last == ord(":") or (last in b"[," and stack[-1] == ord("[")))
        size = self._line_size(0)
        end = len(self._buffer) if size is None else self._at + size
        return broken or byte == ord("#") or _TEXT_LIKE.match(self._buffer, self._at, end) is not None


class _Unzip:
    """A stream compressed with gzip, perhaps several one after another. Holds a block and no more, whatever it is."""

    def __init__(self, begun: bytes) -> None:
        self._data = begun
        self._inflate = zlib.decompressobj(_GZIP_FORM)

    def read(self, more: Callable[[], bytes]) -> bytes:
        """The next bytes; nothing at the end. Raises OSError where the data are no gzip, or cut off."""
        while True:
            if self._inflate.eof:
                self._data = (self._inflate.unused_data + self._data).lstrip(b"\0") or more()
                if not self._data:
                    return b""
                self._inflate = zlib.decompressobj(_GZIP_FORM)
            try:
                found = self._inflate.decompress(self._data, _BLOCK)
            except zlib.error as error:
                raise OSError(errno.EIO, f"damaged gzip data ({error})") from None
            self._data = self._inflate.unconsumed_tail
            if found:
                return found
            if not self._data and not self._inflate.eof:
                self._data = more()
                if not self._data:
                    raise OSError(errno.EIO, "gzip data that are cut off")


class _Held:
    """The bytes of an item, dropped once there are too many."""

    def __init__(self, limit: int) -> None:
        self._data: bytearray | None = bytearray()
        self._limit = limit

    def add(self, data: bytes | bytearray | None) -> None:
        if self._data is None:
            return
        if data is None or len(self._data) + len(data) > self._limit:
            self._data = None
        else:
            self._data += data

    @property
    def dropped(self) -> bool:
        """Whether there were too many."""
        return self._data is None

    def result(self) -> bytes | None:
        return None if self._data is None else bytes(self._data)
