"""The service over a real channel: good requests, bad ones, and ones that end before their answer."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from grpc_status import rpc_status

import arrastre
import toy_game
from arrastre.server import convert
from arrastre.server.service import SERVICE
from arrastre.v1 import analysis_service_pb2 as pb
from solve_requests import FRENCH, SMALL, deal, request

Run = Callable[..., None]


def details(error: grpc.RpcError) -> tuple[error_details_pb2.ErrorInfo, error_details_pb2.BadRequest | None]:
    """What a refusal carries, whose first detail is the only ErrorInfo."""
    status = rpc_status.from_call(error)
    info, bad = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
    assert status.details[0].Unpack(info)
    assert info.domain == "arrastre"
    if len(status.details) == 1:
        return info, None
    assert len(status.details) == 2
    return info, bad if status.details[1].Unpack(bad) else None


def refused(run: Run, message: pb.SolveRequest, **config: Any) -> tuple[str, set[tuple[str, str]]]:
    """The reason for which a request is refused as INVALID_ARGUMENT, and the faults."""
    found = []

    async def scenario(stub: Any, channel: grpc.aio.Channel) -> None:
        with pytest.raises(grpc.aio.AioRpcError) as refusal:
            await stub.Solve(message)
        assert refusal.value.code() == grpc.StatusCode.INVALID_ARGUMENT
        found.append(details(refusal.value))
        assert (await stub.Solve(request(SMALL))).solution.proven

    run(scenario, **config)
    info, bad = found[0]
    return info.reason, {(each.field, each.reason) for each in bad.field_violations}


@pytest.mark.parametrize(
    "options", [{}, {"objective": "game"}, {"want": "best"}, {"want": "value"}, {"line": False}, {"nodes": 5}]
)
@pytest.mark.parametrize("data", [SMALL, FRENCH])
def test_the_answer_is_the_librarys(run: Run, data: dict[str, Any], options: dict[str, Any]) -> None:
    expected = arrastre.solve(arrastre.Position.from_dict(data), **options).to_dict()
    names = {name: f"{name.upper()}_{word.upper()}" for name, word in options.items() if name in ("objective", "want")}

    async def scenario(stub: Any, channel: grpc.aio.Channel) -> None:
        as_message = await stub.Solve(request(data, id="tú", **(options | names)))
        as_text = await stub.Solve(
            pb.SolveRequest(text=str(arrastre.Position.from_dict(data)), id="tú", **(options | names))
        )
        as_json = await stub.Solve(pb.SolveRequest(text=json.dumps(data), id="tú", **(options | names)))
        assert as_message == as_text == as_json
        assert as_message.id == "tú"
        assert json.dumps(convert.solution_dict(as_message.solution)) == json.dumps(expected)

    run(scenario)


@pytest.mark.parametrize("objective", ["points", "game"])
def test_a_game_without_a_message_travels_as_text(run: Run, objective: str) -> None:
    text = json.dumps({"ruleset": "mayor", "hands": [["1O", "4O"], ["2O", "5O"], ["3O", "6O"]]})

    async def scenario(stub: Any, channel: grpc.aio.Channel) -> None:
        answer = await stub.Solve(pb.SolveRequest(text=text, objective=f"OBJECTIVE_{objective.upper()}"))
        found = convert.solution_dict(answer.solution)
        expected = arrastre.solve(arrastre.Position.parse(text), objective=objective).to_dict()
        for each in (expected, *expected["actions"]):
            # Its words for outcomes are its own.
            if "outcome" in each:
                each["outcome"] = None
        assert found == expected

    with toy_game.registered():
        run(scenario)


def test_a_bad_position_is_refused_with_every_fault(run: Run) -> None:
    message = request(SMALL)
    message.position.hands[1].cards[0] = "1O"
    message.position.hands[2].cards[1] = "9B"
    reason, faults = refused(run, message)
    assert reason == "INVALID_POSITION"
    assert {("hands[1].cards[0]", "CARD_TWICE"), ("hands[2].cards[1]", "NOT_IN_DECK")} <= faults


def test_an_unknown_ruleset_is_refused(run: Run) -> None:
    message = request(SMALL)
    message.position.ruleset = "guinote de marte"
    reason, faults = refused(run, message)
    assert reason == "INVALID_POSITION"
    assert ("ruleset", "UNKNOWN_RULESET") in faults


def test_an_empty_request_is_refused(run: Run) -> None:
    assert refused(run, pb.SolveRequest()) == ("INVALID_REQUEST", {("position", "MISSING")})
    assert refused(run, pb.SolveRequest(text=""))[0] == "INVALID_SYNTAX"


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"objective": 9}, "objective"),
        ({"want": 9}, "want"),
        ({"nodes": 0}, "nodes"),
        ({"seconds": -1.0}, "seconds"),
        ({"seconds": float("nan")}, "seconds"),
    ],
)
def test_options_without_sense_are_refused(run: Run, options: dict[str, Any], field: str) -> None:
    reason, faults = refused(run, request(SMALL, **options))
    assert reason == "INVALID_REQUEST"
    assert {place for place, _ in faults} == {field}


def test_what_cannot_be_solved_is_refused(run: Run) -> None:
    unseen = deal()
    unseen["hands"][3] = {"hidden": 6}
    reason, faults = refused(run, request(unseen))
    assert reason == "INVALID_POSITION"
    assert faults


def test_hostile_requests_are_refused(run: Run) -> None:
    assert refused(run, pb.SolveRequest(text="x" * 100_000))[1] == {("", "TOO_LONG")}
    assert refused(run, pb.SolveRequest(text="[" * 60_000))[0] == "INVALID_SYNTAX"
    assert refused(run, pb.SolveRequest(text='{"trump": "\\ud800"}'))[0] == "INVALID_POSITION"
    many = request(SMALL)
    many.position.hands[0].cards.extend(["nonsense"] * 20_000)
    assert refused(run, many)[0] == "INVALID_POSITION"
    many.position.hands[0].cards[:] = [card for card in ("1O", "2O", "3O") for _ in range(10_000)]
    assert refused(run, many)[0] == "INVALID_POSITION"


def test_a_huge_message_is_not_taken(run: Run) -> None:
    async def scenario(stub: Any, channel: grpc.aio.Channel) -> None:
        with pytest.raises(grpc.aio.AioRpcError) as refusal:
            await stub.Solve(pb.SolveRequest(text="x" * 3_000_000))
        assert refusal.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        assert (await stub.Solve(request(SMALL))).solution.proven

    run(scenario)


def test_rubbish_bytes_are_not_taken(run: Run) -> None:
    async def scenario(stub: Any, channel: grpc.aio.Channel) -> None:
        call = channel.unary_unary(f"/{SERVICE}/Solve")
        with pytest.raises(grpc.aio.AioRpcError):
            await call(b"\xff" * 100)
        assert (await stub.Solve(request(SMALL))).solution.proven

    run(scenario)


def test_the_servers_own_limit_cuts_the_search(run: Run) -> None:
    async def scenario(stub: Any, channel: grpc.aio.Channel) -> None:
        for options in ({}, {"seconds": 1e6}, {"seconds": float("inf")}, {"nodes": 2**40}):
            data = convert.solution_dict((await stub.Solve(request(deal(), **options))).solution)
            assert (data["proven"], data["margin"]) == (False, None)
            assert data["lower"] < data["upper"]

    run(scenario, max_seconds=0.2)


def test_a_deadline_frees_the_thread(run: Run) -> None:
    async def scenario(stub: Any, channel: grpc.aio.Channel) -> None:
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await stub.Solve(request(deal(), nodes=2**40), timeout=0.3)
        assert error.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED
        start = time.monotonic()
        assert (await stub.Solve(request(SMALL))).solution.proven
        assert time.monotonic() - start < 2

    run(scenario, threads=1)


def test_a_cancel_frees_the_thread_and_its_place(run: Run) -> None:
    async def scenario(stub: Any, channel: grpc.aio.Channel) -> None:
        for _ in range(3):
            running = stub.Solve(request(deal(), nodes=2**40))
            waiting = stub.Solve(request(deal(), nodes=2**40))
            await asyncio.sleep(0.2)
            waiting.cancel()
            running.cancel()
            await asyncio.sleep(0.2)
            start = time.monotonic()
            assert (await stub.Solve(request(SMALL))).solution.proven
            assert time.monotonic() - start < 2

    run(scenario, threads=1, waiting=1)


def test_more_work_than_may_wait_is_refused_at_once(run: Run) -> None:
    async def scenario(stub: Any, channel: grpc.aio.Channel) -> None:
        calls = [stub.Solve(request(deal(), nodes=2**40)) for _ in range(2)]
        await asyncio.sleep(0.2)
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await stub.Solve(request(SMALL))
        assert error.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        info, bad = details(error.value)
        assert (info.reason, bad) == ("BUSY", None)
        for call in calls:
            call.cancel()

    run(scenario, threads=1, waiting=1)


def test_a_fault_of_the_servers_own_says_nothing_of_its_inside(
    run: Run, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*arguments: Any, **options: Any) -> None:
        raise RuntimeError("/secret/path")

    monkeypatch.setattr(arrastre, "solve", fail)

    async def scenario(stub: Any, channel: grpc.aio.Channel) -> None:
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await stub.Solve(request(SMALL))
        assert error.value.code() == grpc.StatusCode.INTERNAL
        assert details(error.value)[0].reason == "INTERNAL"
        assert "secret" not in str(error.value.trailing_metadata()) + str(error.value.details())

    run(scenario)
    assert "/secret/path" in caplog.text


def test_health(run: Run) -> None:
    async def scenario(stub: Any, channel: grpc.aio.Channel) -> None:
        health = health_pb2_grpc.HealthStub(channel)
        for service in ("", SERVICE):
            answer = await health.Check(health_pb2.HealthCheckRequest(service=service))
            assert answer.status == health_pb2.HealthCheckResponse.SERVING
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await health.Check(health_pb2.HealthCheckRequest(service="nobody"))
        assert error.value.code() == grpc.StatusCode.NOT_FOUND

    run(scenario)


def test_reflection_lists_the_services(run: Run) -> None:
    async def scenario(stub: Any, channel: grpc.aio.Channel) -> None:
        call = reflection_pb2_grpc.ServerReflectionStub(channel).ServerReflectionInfo()
        await call.write(reflection_pb2.ServerReflectionRequest(list_services=""))
        names = {each.name for each in (await call.read()).list_services_response.service}
        assert {SERVICE, "grpc.health.v1.Health"} <= names
        await call.done_writing()

    run(scenario)
