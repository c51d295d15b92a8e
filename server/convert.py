"""The one place where messages become the JSON forms of the library, and back.

A message's field and its JSON twin have the same name (``card_points``, ``cardPoints``) and an enum's value is the
lower-case word of the JSON form behind its prefix (``MOMENT_BEFORE_DRAW``, ``before_draw``), so that most of the work
is done by walking the descriptors. Nothing is checked here that the library checks for itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from google.protobuf.message import Message
from google.rpc import code_pb2, error_details_pb2, status_pb2

import arrastre
from arrastre.errors import ArrastreError, Fault, InvalidRequest
from arrastre.v1 import analysis_service_pb2, position_pb2

if TYPE_CHECKING:
    # What a message's DESCRIPTOR holds, whichever of its implementations protobuf has chosen.
    from google._upb._message import EnumDescriptor as FastEnumDescriptor
    from google._upb._message import FieldDescriptor as FastFieldDescriptor
    from google.protobuf.descriptor import EnumDescriptor, FieldDescriptor

    Enum = EnumDescriptor | FastEnumDescriptor
    Field = FieldDescriptor | FastFieldDescriptor

M = TypeVar("M", bound=Message)

DOMAIN = "arrastre"

# Clients take about 8 KiB of trailing metadata, in which the details travel in base 64.
MAX_DETAILS = 4096
MAX_TEXT = 200


def position_dict(message: position_pb2.Position) -> dict[str, Any]:
    """The JSON form of a position; what the message leaves out is left out."""
    return {field.json_name: _plain(field, value) for field, value in message.ListFields()}


def position_message(data: Mapping[str, Any]) -> position_pb2.Position:
    """The message of a position's canonical JSON form, ``Position.to_dict()``.

    Raises :class:`ValueError` if it has a field that the message has no place for: a position of a game that the
    service has no message for travels as text.
    """
    return _filled(position_pb2.Position(), data)


def request_position(request: analysis_service_pb2.SolveRequest) -> arrastre.Position:
    """The position of a request, through the library's gate. Raises :class:`~arrastre.errors.ArrastreError`."""
    match request.WhichOneof("input"):
        case "position":
            return arrastre.Position.from_dict(position_dict(request.position))
        case "text":
            return arrastre.Position.parse(request.text)
        case _:
            raise InvalidRequest("there is no position", [Fault("position", "MISSING", "give a position, or its text")])


def request_options(request: analysis_service_pb2.SolveRequest, max_seconds: float) -> dict[str, Any]:
    """The keyword arguments of ``arrastre.solve`` that a request asks for, its time held to ``max_seconds``.

    An enum's number that has no word is passed on as it is, for ``solve`` to refuse.
    """
    return {
        "objective": _word(analysis_service_pb2.Objective.DESCRIPTOR, request.objective) or "points",
        "want": _word(analysis_service_pb2.Want.DESCRIPTOR, request.want) or "all",
        "line": request.line if request.HasField("line") else True,
        "nodes": request.nodes if request.HasField("nodes") else None,
        "seconds": min(request.seconds, max_seconds) if request.HasField("seconds") else max_seconds,
    }


def solution_message(data: Mapping[str, Any]) -> analysis_service_pb2.Solution:
    """The message of ``Solution.to_dict()``."""
    return _filled(analysis_service_pb2.Solution(), data)


def solution_dict(message: analysis_service_pb2.Solution) -> dict[str, Any]:
    """What ``Solution.to_dict()`` was before :func:`solution_message`, the order of the fields included."""
    data = {"schema": 1} | _every_field(message)
    by_points = message.objective == analysis_service_pb2.OBJECTIVE_POINTS
    for item, exact in ((data, message.proven), *((each, each["value"] is not None) for each in data["actions"])):
        if by_points:
            del item["outcome"]
        if exact:
            del item["lower"], item["upper"]
    if not by_points:
        del data["margin"]
    return data


def refusal(error: ArrastreError) -> status_pb2.Status:
    """A refusal as ``INVALID_ARGUMENT`` with an ErrorInfo (the code) and a BadRequest (the faults).

    ErrorInfo's metadata counts the ``faults``; those that would not fit into a client's metadata are not listed.
    """
    bad_request = error_details_pb2.BadRequest()
    room = MAX_DETAILS
    for fault in error.faults:
        violation = bad_request.field_violations.add(
            field=_short(fault.field), reason=fault.reason, description=_short(_describe(fault))
        )
        room -= violation.ByteSize() + 4
        if room < 0:
            del bad_request.field_violations[-1]
            break
    details: list[Message] = [bad_request] if bad_request.field_violations else []
    return status(code_pb2.INVALID_ARGUMENT, error.code, error.message, details, {"faults": str(len(error.faults))})


def status(
    code: int,
    reason: str,
    message: str,
    details: Iterable[Message] = (),
    metadata: Mapping[str, str] | None = None,
) -> status_pb2.Status:
    """A ``google.rpc.Status`` that carries an ErrorInfo before its other ``details``."""
    packed = status_pb2.Status(code=code, message=_short(message))
    info = error_details_pb2.ErrorInfo(reason=reason, domain=DOMAIN, metadata=metadata)
    for detail in (info, *details):
        packed.details.add().Pack(detail)
    return packed


def _describe(fault: Fault) -> str:
    text = fault.message or fault.reason
    if fault.card and fault.card not in text:
        text = f"{fault.card}: {text}"
    if fault.column is not None:
        text += f" (column {fault.column})"
    return text


def _short(text: str) -> str:
    """A text that fits, and that UTF-8 can carry: what it quotes may be anything."""
    text = text.encode("utf-8", "replace").decode("utf-8")
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"


def _word(enum: Enum, number: int) -> str | None:
    """The JSON word of an enum's value: ``None`` for 0, the number's digits where there is no such value."""
    value = enum.values_by_number.get(number)
    return None if number == 0 else str(number) if value is None else value.name.removeprefix(_prefix(enum)).lower()


def _number(enum: Enum, word: str) -> int:
    """The number of a JSON word. Raises :class:`ValueError` for an unknown one, but for an outcome 0: see Outcome."""
    value = enum.values_by_name.get(_prefix(enum) + word.upper())
    if value is not None:
        return value.number
    if enum.full_name == analysis_service_pb2.Outcome.DESCRIPTOR.full_name:
        return analysis_service_pb2.OUTCOME_UNSPECIFIED
    raise ValueError(f"{enum.full_name} has no value for {word!r}")


def _prefix(enum: Enum) -> str:
    """``MOMENT_`` for Moment: its zero value is always called ``…_UNSPECIFIED``."""
    return enum.values_by_number[0].name.removesuffix("UNSPECIFIED")


def _is_map(field: Field) -> bool:
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def _plain(field: Field, value: Any) -> Any:
    """A field's value as JSON has it."""
    if _is_map(field):
        return dict(value)
    if field.is_repeated:
        return [_every_field(each) for each in value] if field.message_type is not None else list(value)
    if field.message_type is not None:
        return _every_field(value)
    return _word(field.enum_type, value) if field.enum_type is not None else value


def _every_field(message: Message) -> dict[str, Any]:
    """All fields in the order of their numbers; ``None`` for one that is absent or unspecified."""
    return {
        field.json_name: None
        if field.has_presence and not message.HasField(field.name)
        else _plain(field, getattr(message, field.name))
        for field in message.DESCRIPTOR.fields
    }


def _filled(message: M, data: Mapping[str, Any]) -> M:
    """The message with the fields of its JSON form set."""
    fields = {field.json_name: field for field in message.DESCRIPTOR.fields}
    for name, value in data.items():
        if name == "schema" or value is None:
            continue
        field = fields.get(name)
        if field is None:
            raise ValueError(f"{message.DESCRIPTOR.full_name} has no place for {name!r}")
        if _is_map(field):
            getattr(message, field.name).update({key: str(each) for key, each in value.items()})
        elif field.is_repeated and field.message_type is not None:
            for each in value:
                _filled(getattr(message, field.name).add(), each)
        elif field.is_repeated:
            getattr(message, field.name).extend(value)
        elif field.message_type is not None:
            getattr(message, field.name).SetInParent()
            _filled(getattr(message, field.name), value)
        else:
            setattr(message, field.name, _number(field.enum_type, value) if field.enum_type is not None else value)
    return message
