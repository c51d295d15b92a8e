"""The one place where messages become the JSON forms of the library, and back.

A message's field and its JSON twin have the same name (``card_points``, ``cardPoints``) and an enum's value is the
lower-case word of the JSON form behind its prefix (``MOMENT_BEFORE_DRAW``, ``before_draw``), so that most of the work
is done by walking the descriptors. Nothing is checked here that the library checks for itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from google.protobuf.message import Message
from google.rpc import code_pb2, error_details_pb2, status_pb2

import arrastre
from arrastre._version import ANSWERS
from arrastre.errors import ArrastreError, Fault, InvalidRequest
from arrastre.estimate import DEFAULT_VIEW
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

#: Worlds that each effort looks at, unless it is said how many.
EFFORT_WORLDS = {"quick": 64, "normal": 256, "deep": 1024}


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that one request may ask for: wall-clock seconds, worlds, and positions looked at."""

    seconds: float = 60.0
    worlds: int = 16_384
    nodes: int = 10**12


def position_dict(message: position_pb2.Position) -> dict[str, Any]:
    """The JSON form of a position; what the message leaves out is left out."""
    return {field.json_name: _plain(field, value) for field, value in message.ListFields()}


def position_message(data: Mapping[str, Any]) -> position_pb2.Position:
    """The message of a position's canonical JSON form, ``Position.to_dict()``.

    Raises :class:`ValueError` if it has a field that the message has no place for: a position of a game that the
    service has no message for travels as text.
    """
    return _filled(position_pb2.Position(), data)


def request_position(
    request: analysis_service_pb2.SolveRequest | analysis_service_pb2.BestRequest,
) -> arrastre.Position:
    """The position of a request, through the library's gate. Raises :class:`~arrastre.errors.ArrastreError`."""
    match request.WhichOneof("input"):
        case "position":
            return arrastre.Position.from_dict(position_dict(request.position))
        case "text":
            return arrastre.Position.parse(request.text)
        case _:
            raise InvalidRequest("there is no position", [Fault("position", "MISSING", "give a position, or its text")])


def request_options(request: analysis_service_pb2.SolveRequest, limits: Limits) -> dict[str, Any]:
    """The keyword arguments of ``arrastre.solve`` that a request asks for, held to the server's limits.

    An enum's number that has no word is passed on as it is, for ``solve`` to refuse.
    """
    seconds = _held(request, "seconds", limits.seconds)
    return {
        "objective": word(analysis_service_pb2.Objective.DESCRIPTOR, request.objective) or "points",
        "want": word(analysis_service_pb2.Want.DESCRIPTOR, request.want) or "all",
        "line": request.line if request.HasField("line") else True,
        "nodes": _held(request, "nodes", limits.nodes) if request.HasField("nodes") else None,
        "seconds": limits.seconds if seconds is None else seconds,
        "at_least": request.at_least if request.HasField("at_least") else None,
    }


def best_options(request: analysis_service_pb2.BestRequest, limits: Limits) -> dict[str, Any]:
    """The keyword arguments of ``arrastre.watch`` that a request asks for, held to the server's limits."""
    effort = word(analysis_service_pb2.Effort.DESCRIPTOR, request.effort) or "normal"
    if effort not in EFFORT_WORLDS and effort != "policy":
        raise InvalidRequest("no such effort", [Fault("effort", "UNKNOWN_EFFORT", f"there is no effort {effort!r}")])
    seconds = _held(request, "seconds", limits.seconds)
    worlds = _held(request, "worlds", limits.worlds)
    # As many as there is time for, if time is what was given.
    usual = limits.worlds if seconds is not None else min(EFFORT_WORLDS.get(effort, 1), limits.worlds)
    return {
        "seat": request.seat if request.HasField("seat") else None,
        "view": word(analysis_service_pb2.View.DESCRIPTOR, request.view) or DEFAULT_VIEW,
        "objective": word(analysis_service_pb2.Objective.DESCRIPTOR, request.objective) or "points",
        "worlds": usual if worlds is None else worlds,
        "seconds": limits.seconds if seconds is None else seconds,
        "nodes": _held(request, "nodes", limits.nodes),
        "seed": request.seed if request.HasField("seed") else 1,
    }


def _held(request: Message, name: str, most: float) -> Any:
    """A limit that was asked for, no more than the server's; ``None`` if none was."""
    return min(getattr(request, name), most) if request.HasField(name) else None


def grade_effort(number: int) -> str:
    """The effort of a grading request. Raises :class:`~arrastre.errors.InvalidRequest`."""
    effort = word(analysis_service_pb2.Effort.DESCRIPTOR, number) or "normal"
    return "quick" if effort == "policy" else effort


def solution_message(data: Mapping[str, Any]) -> analysis_service_pb2.Solution:
    """The message of ``Solution.to_dict()``."""
    return _filled(analysis_service_pb2.Solution(), data)


def solution_dict(message: analysis_service_pb2.Solution) -> dict[str, Any]:
    """What ``Solution.to_dict()`` was before :func:`solution_message`, the order of the fields included."""
    data = {"schema": 1} | _every_field(message)
    by_points = message.objective == analysis_service_pb2.OBJECTIVE_POINTS
    asked = message.HasField("at_least")
    whole = message.proven and (not asked or "lower" not in {field.name for field, _ in message.ListFields()})
    for item, exact in ((data, whole), *((each, each["value"] is not None) for each in data["actions"])):
        if by_points:
            del item["outcome"]
        if exact:
            del item["lower"], item["upper"]
    if not by_points:
        del data["margin"]
    for name in ("tricks", "payments", "value"):
        if not data[name]:
            del data[name]
    if asked:
        rest = {name: data.pop(name) for name in ("best", "actions", "line", "atLeast", "reaches")}
        return data | {name: rest[name] for name in ("atLeast", "reaches", "best", "actions", "line")}
    del data["atLeast"], data["reaches"]
    return data


def advice_message(data: Mapping[str, Any]) -> analysis_service_pb2.Advice:
    """The message of ``Advice.to_dict()``, with what the command adds to it."""
    return _filled(analysis_service_pb2.Advice(), data)


def advice_dict(
    message: analysis_service_pb2.Advice,
    *,
    both: bool = False,
    where: bool = False,
    why: bool = False,
    names: bool = False,
) -> dict[str, Any]:
    """What the JSON form was before :func:`advice_message`, the order of the fields included. ``names`` keeps the names
    of a gain's parts in all languages, which that form does not have."""
    data = {"schema": 1} | _every_field(message)
    dropped = [name for name, asked in (("other", both), ("where", where), ("why", why)) if not asked]
    if not message.HasField("at"):
        dropped += ["deal", "at", "faults"]
    for item in (data, data["other"]):
        if item is not None and item["equity"] is None:
            del item["equity"]
    for each in data["why"]:
        for part in each["parts"]:
            if not names:
                del part["names"]
    return {name: value for name, value in data.items() if name not in dropped}


def grade_message(data: Mapping[str, Any]) -> analysis_service_pb2.DealGrade:
    """The message of ``DealGrade.to_dict()``."""
    return _filled(analysis_service_pb2.DealGrade(), data)


def grade_dict(message: analysis_service_pb2.DealGrade) -> dict[str, Any]:
    """What ``DealGrade.to_dict()`` was before :func:`grade_message`."""
    return {"schema": 1} | _every_field(message)


def ruleset_message(name: str, players: int, language: str) -> analysis_service_pb2.Ruleset:
    """A ruleset with its fields. Raises :class:`~arrastre.errors.InvalidRules`."""
    game = arrastre.game.game_of(name)
    fields = [
        analysis_service_pb2.RulesetField(
            field=each.field, value=each.value, default_value=each.default, values=each.values, meaning=each.meaning
        )
        for each in game.rules(name, {}, players, language)
    ]
    return analysis_service_pb2.Ruleset(name=name, game=game.name, objectives=game.objectives, fields=fields)


def engine_message(position: arrastre.Position | None = None) -> analysis_service_pb2.Engine:
    """What answers; with a position, under which rules."""
    data = {} if position is None else position.to_dict()
    rules = {key: _rule(value) for key, value in (data.get("rules") or {}).items()}
    return analysis_service_pb2.Engine(
        version=arrastre.__version__, answers=ANSWERS, ruleset=data.get("ruleset", ""), rules=rules
    )


def _rule(value: object) -> str:
    return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)


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


def word(enum: Enum, number: int) -> str | None:
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
    return word(field.enum_type, value) if field.enum_type is not None else value


def _every_field(message: Message) -> dict[str, Any]:
    """All fields in the order of their numbers; ``None`` for one that is absent or unspecified."""
    return {
        field.json_name: None
        if field.has_presence and not message.HasField(field.name)
        else _plain(field, getattr(message, field.name))
        for field in message.DESCRIPTOR.fields
    }


def rulesets_dict(message: analysis_service_pb2.ListRulesetsResponse) -> dict[str, Any]:
    """The JSON form of the rulesets."""
    return {"schema": 1, "rulesets": [_every_field(each) for each in message.rulesets]}


def message_of(message: M, data: Mapping[str, Any]) -> M:
    """The message with the fields of a JSON form set that somebody else wrote.

    Raises :class:`~arrastre.errors.InvalidRequest` with every field that is none, or is of the wrong type.
    """
    names = {field.json_name: field.json_name for field in message.DESCRIPTOR.fields}
    names |= {field.name: field.json_name for field in message.DESCRIPTOR.fields}
    faults = []
    for name, value in data.items():
        if name not in names:
            faults.append(Fault(name, "UNKNOWN_FIELD", f"there is no field {name!r} here"))
            continue
        try:
            _filled(message, {names[name]: value})
        except (TypeError, ValueError, AttributeError) as error:
            faults.append(Fault(name, "BAD_VALUE", f"{name} cannot be {str(value)[:40]!r}: {str(error)[:100]}"))
    if faults:
        raise InvalidRequest("the request has faults", faults)
    return message


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
