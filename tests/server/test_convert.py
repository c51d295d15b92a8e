"""Messages and JSON forms say the same, and nothing is lost between them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from google.rpc import code_pb2, error_details_pb2
from hypothesis import given, settings

import arrastre
from arrastre.errors import Fault, InvalidPosition
from arrastre.server import convert
from arrastre.v1 import analysis_service_pb2, position_pb2
from solve_requests import SMALL, deal
from strategies import positions


def same(data: dict[str, Any]) -> bool:
    """A solution's JSON form comes back byte for byte, from the wire too."""
    message = convert.solution_message(data)
    message = analysis_service_pb2.Solution.FromString(message.SerializeToString())
    return json.dumps(convert.solution_dict(message)) == json.dumps(data)


@settings(derandomize=True, max_examples=200, deadline=None)
@given(positions(kind="whole"))
def test_a_position_comes_back_from_its_message(data: dict[str, Any]) -> None:
    position = arrastre.Position.from_dict(data)
    message = convert.position_message(position.to_dict())
    message = position_pb2.Position.FromString(message.SerializeToString())
    assert arrastre.Position.from_dict(convert.position_dict(message)) == position


def test_a_position_with_unseen_cards_comes_back() -> None:
    data = deal()
    data["hands"][1:] = [{"cards": ["3O"], "hidden": 5, "excluded": ["1C"]}, {"hidden": 6}, {"hidden": 6}]
    data["hands"][0] = ["1O", "2O", "SC", "RB", "7E", "6E"]
    data |= {"trump": "C", "stock": ["?"] * 15 + ["2C"]}
    position = arrastre.Position.from_dict(data)
    assert arrastre.Position.from_dict(convert.position_dict(convert.position_message(position.to_dict()))) == position


def test_what_a_message_leaves_out_is_left_out() -> None:
    assert convert.position_dict(position_pb2.Position()) == {}
    assert convert.position_dict(position_pb2.Position(players=0, leader=0, moment="MOMENT_BEFORE_DRAW")) == {
        "players": 0,
        "moment": "before_draw",
    }


def test_zeroes_inside_a_list_are_not_left_out() -> None:
    message = position_pb2.Position(sung=[position_pb2.Sung(suit="B", trick=3)])
    assert convert.position_dict(message)["sung"] == [{"seat": 0, "suit": "B", "trick": 3}]


def test_a_moment_that_does_not_exist_reaches_the_gate() -> None:
    assert convert.position_dict(position_pb2.Position(moment=77)) == {"moment": "77"}  # type: ignore[arg-type]


def test_a_field_of_another_game_has_no_place() -> None:
    with pytest.raises(ValueError, match="no place for 'colour'"):
        convert.position_message({"schema": 1, "colour": "red"})


@pytest.mark.parametrize("objective", ["points", "game"])
@pytest.mark.parametrize("want", ["all", "best", "value"])
def test_a_solution_comes_back_from_its_message(objective: str, want: Any) -> None:
    position = arrastre.Position.from_dict(SMALL)
    assert same(arrastre.solve(position, objective=objective, want=want).to_dict(7))


@pytest.mark.parametrize("objective", ["points", "game"])
def test_a_solution_that_was_cut_comes_back(objective: str) -> None:
    position = arrastre.Position.from_dict(deal())
    data = arrastre.solve(position, objective=objective, nodes=3).to_dict()
    assert data["proven"] is False
    assert same(data)


def test_a_refusal_lists_the_faults() -> None:
    error = InvalidPosition(
        "the position has faults",
        [
            Fault("hands[2].cards[3]", "CARD_TWICE", "a second 7O", "7O"),
            Fault("trump", "UNKNOWN_SUIT", column=9, card="X"),
        ],
    )
    status = convert.refusal(error)
    info, bad = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
    assert [status.details[0].Unpack(info), status.details[1].Unpack(bad)] == [True, True]
    assert (status.code, status.message) == (code_pb2.INVALID_ARGUMENT, "the position has faults")
    assert (info.domain, info.reason, dict(info.metadata)) == ("arrastre", "INVALID_POSITION", {"faults": "2"})
    assert [(each.field, each.reason, each.description) for each in bad.field_violations] == [
        ("hands[2].cards[3]", "CARD_TWICE", "a second 7O"),
        ("trump", "UNKNOWN_SUIT", "X: UNKNOWN_SUIT (column 9)"),
    ]


def test_a_refusal_fits_into_a_clients_metadata() -> None:
    faults = [Fault(f"hands[{n}]", "UNKNOWN_CARD", "\ud800" + "ñ" * 10_000) for n in range(5_000)]
    status = convert.refusal(InvalidPosition("x" * 10_000, faults))
    bad = error_details_pb2.BadRequest()
    status.details[1].Unpack(bad)
    assert len(bad.field_violations) > 5
    assert status.ByteSize() < 6000
