"""The calls that stream, estimates, grades, and what happens to callers that leave."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2

import arrastre
import service as attack
from arrastre.server import convert
from arrastre.v1 import analysis_service_pb2 as pb
from arrastre.v1 import analysis_service_pb2_grpc
from solve_requests import SMALL, deal, request

Run = Callable[..., None]

ROOT = Path(__file__).parents[2]
CANTES = (ROOT / "examples" / "records" / "cantes.txt").read_text()
HIDDEN = (ROOT / "examples" / "hidden" / "1-the-last-draw.txt").read_text().splitlines()[-1]
#: A first trick: nobody knows the 34 other cards.
FIRST = arrastre.Record.parse(CANTES).deals[0].steps[0].position


async def messages(*given: Any) -> AsyncIterator[Any]:
    for each in given:
        yield each


def small(name: str, **options: Any) -> pb.SolveRequest:
    return request(SMALL, id=name, **options)


# -- batches


def test_a_batch_answers_every_item_in_its_place(run: Run) -> None:
    bad = small("bad")
    bad.position.hands[1].cards[0] = "1O"
    items = [small(str(number)) for number in range(40)]
    items[17] = bad

    async def scenario(stub: Any, channel: grpc.aio.Channel) -> None:
        sent = [pb.SolveBatchRequest(id="a", items=items), pb.SolveBatchRequest(id="b", items=items[:1])]
        answers = [each async for each in stub.SolveBatch(messages(*sent))]
        assert [each.id for each in answers] == ["a", "b"]
        assert [each.id for each in answers[0].items] == [each.id for each in items]
        alone = (await stub.Solve(items[0])).solution
        for item in answers[0].items:
            if item.id == "bad":
                info = error_details_pb2.ErrorInfo()
                assert item.status.details[0].Unpack(info) and info.reason == "INVALID_POSITION"
            else:
                assert item.answer.solution == alone
                assert item.answer.engine.ruleset == "aragones"

    run(scenario)


@pytest.mark.parametrize("number", [0, 257])
def test_a_message_of_a_batch_has_1_to_256_items(run: Run, number: int) -> None:
    async def scenario(stub: Any, channel: grpc.aio.Channel) -> None:
        sent = messages(pb.SolveBatchRequest(items=[small("")] * number))
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await stub.SolveBatch(sent).read()
        assert error.value.code() == grpc.StatusCode.INVALID_ARGUMENT

    run(scenario, max_message_bytes=2**22)


def test_a_batch_is_held_back_not_refused(run: Run) -> None:
    """More than may wait: the stream is slower, and nothing is lost."""

    async def scenario(stub: Any, channel: grpc.aio.Channel) -> None:
        sent = [pb.SolveBatchRequest(id=str(number), items=[small("")] * 64) for number in range(12)]
        answers = [each async for each in stub.SolveBatch(messages(*sent))]
        assert [each.id for each in answers] == [str(number) for number in range(12)]
        assert all(item.answer.solution.proven for each in answers for item in each.items)

    run(scenario, waiting=2, threads=1)


def test_a_cancelled_stream_frees_its_place(run: Run) -> None:
    async def scenario(stub: Any, channel: grpc.aio.Channel) -> None:
        for _ in range(3):
            call = stub.SolveBatch(messages(pb.SolveBatchRequest(items=[request(deal(), nodes=2**40)] * 40)))
            await asyncio.sleep(0.3)
            call.cancel()
            # The one stream that may be served is free again, and so is the one thread.
            async for answer in stub.SolveBatch(messages(pb.SolveBatchRequest(id="x", items=[small("")])), timeout=10):
                assert answer.items[0].answer.solution.proven
                break
            else:
                pytest.fail("no answer")

    run(scenario, threads=1, streams=2)


def test_more_streams_than_may_be_are_refused_at_once(run: Run) -> None:
    async def scenario(stub: Any, channel: grpc.aio.Channel) -> None:
        held = asyncio.Event()

        async def slowly() -> AsyncIterator[Any]:
            yield pb.SolveBatchRequest(items=[small("")])
            await held.wait()

        first = stub.SolveBatch(slowly())
        await first.read()
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await stub.SolveBatch(messages(pb.SolveBatchRequest(items=[small("")]))).read()
        assert error.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        held.set()

    run(scenario, streams=1)


# -- estimates


@pytest.mark.parametrize("options", [{}, {"both": True, "where": True, "why": True}, {"objective": "OBJECTIVE_GAME"}])
def test_best_is_the_librarys(run: Run, options: dict[str, Any]) -> None:
    objective = "game" if "objective" in options else "points"
    expected = arrastre.best(arrastre.Position.parse(HIDDEN), objective=objective).to_dict()

    async def scenario(stub: Any, channel: grpc.aio.Channel) -> None:
        answer = await stub.Best(pb.BestRequest(id="ñ", text=HIDDEN, **options))
        assert answer.id == "ñ"
        flags = {name: options.get(name, False) for name in ("both", "where", "why")}
        found = convert.advice_dict(answer.advice, **flags)
        assert {name: found[name] for name in expected} == expected
        if options.get("where"):
            assert found["where"] and found["why"] and found["other"]["view"] == "clairvoyant"

    run(scenario)


def test_best_at_a_moment_of_a_record(run: Run) -> None:
    record = arrastre.Record.parse(CANTES)
    expected = arrastre.best(record.deals[0], at="7.1").to_dict()

    async def scenario(stub: Any, channel: grpc.aio.Channel) -> None:
        answer = await stub.Best(pb.BestRequest(moment=pb.RecordMoment(record=CANTES, at="7.1")))
        found = convert.advice_dict(answer.advice)
        assert {name: found[name] for name in expected} == expected
        assert (found["deal"], found["at"], found["faults"]) == (1, "7.1", [])
        for wrong in ({"at": "77.1"}, {"at": ""}, {"at": "7.1", "deal": 3}):
            with pytest.raises(grpc.aio.AioRpcError) as error:
                await stub.Best(pb.BestRequest(moment=pb.RecordMoment(record=CANTES, **wrong)))
            assert error.value.code() == grpc.StatusCode.INVALID_ARGUMENT

    run(scenario)


def test_best_with_a_deadline_answers_with_what_it_has(run: Run) -> None:
    async def scenario(stub: Any, channel: grpc.aio.Channel) -> None:
        ask = pb.BestRequest(text=json.dumps(FIRST.to_dict()), worlds=16_000, view="VIEW_CLAIRVOYANT")
        answer = await stub.Best(ask, timeout=1.0)
        assert answer.advice.best and 0 < answer.advice.worlds < 16_000
        ask.both = ask.where = ask.why = True
        answer = await stub.Best(ask, timeout=2.0)
        assert answer.advice.other.best and answer.advice.where and answer.advice.why

    run(scenario)


def test_by_policy_at_once(run: Run) -> None:
    """While every thread is busy."""

    async def scenario(stub: Any, channel: grpc.aio.Channel) -> None:
        busy = stub.Solve(request(deal(), nodes=2**40))
        await asyncio.sleep(0.2)
        answer = await stub.Best(pb.BestRequest(text=json.dumps(FIRST.to_dict()), effort="EFFORT_POLICY"))
        assert answer.advice.view == pb.VIEW_POLICY
        assert [each.action for each in answer.advice.best] == [FIRST.game.policy(FIRST, FIRST.seat).action]
        assert not busy.done()
        busy.cancel()

    run(scenario, threads=1)


def test_a_watch_ends_with_its_only_final_answer(run: Run) -> None:
    async def scenario(stub: Any, channel: grpc.aio.Channel) -> None:
        ask = pb.BestRequest(id="w", text=json.dumps(FIRST.to_dict()), seconds=1.5)
        answers = [each async for each in stub.WatchBest(pb.WatchBestRequest(best=ask))]
        assert len(answers) > 1
        assert [each.final for each in answers] == [False] * (len(answers) - 1) + [True]
        worlds = [each.advice.worlds for each in answers]
        assert worlds == sorted(worlds)
        assert {each.id for each in answers} == {"w"}
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await stub.WatchBest(pb.WatchBestRequest(best=pb.BestRequest(text="no position"))).read()
        assert error.value.code() == grpc.StatusCode.INVALID_ARGUMENT

    run(scenario)


def test_limits_are_the_servers(run: Run) -> None:
    async def scenario(stub: Any, channel: grpc.aio.Channel) -> None:
        answer = await stub.Best(pb.BestRequest(text=json.dumps(FIRST.to_dict()), worlds=5000))
        assert answer.advice.worlds <= 40

    run(scenario, max_worlds=40)


# -- grades


def test_grades_are_the_librarys(run: Run) -> None:
    record = arrastre.Record.parse(CANTES)
    expected = arrastre.grade(record, effort="quick").deals[0].to_dict()

    async def scenario(stub: Any, channel: grpc.aio.Channel) -> None:
        sent = [
            pb.GradeRequest(id="a", record=CANTES, effort="EFFORT_QUICK"),
            pb.GradeRequest(id="b", record="no record at all", effort="EFFORT_QUICK"),
            pb.GradeRequest(id="c", record=CANTES + "\n" + CANTES, effort="EFFORT_QUICK"),
        ]
        answers = [each async for each in stub.Grade(messages(*sent))]
        assert [(each.id, each.last) for each in answers] == [("a", True), ("b", True), ("c", False), ("c", True)]
        assert convert.grade_dict(answers[0].grade) == expected
        assert answers[1].HasField("status") and not answers[1].HasField("grade")
        assert answers[2].grade.decisions == answers[0].grade.decisions

    run(scenario)


def test_a_grading_that_is_given_up_frees_its_thread(run: Run) -> None:
    async def scenario(stub: Any, channel: grpc.aio.Channel) -> None:
        call = stub.Grade(messages(pb.GradeRequest(record=CANTES * 20, effort="EFFORT_DEEP")))
        await asyncio.sleep(1)
        call.cancel()
        assert (await stub.Solve(small("x"), timeout=10)).solution.proven

    run(scenario, threads=1)


# -- rulesets


def test_rulesets(run: Run) -> None:
    async def scenario(stub: Any, channel: grpc.aio.Channel) -> None:
        answer = await stub.ListRulesets(pb.ListRulesetsRequest(language="es"))
        assert [each.name for each in answer.rulesets] == list(arrastre.rulesets())
        assert all(field.meaning for each in answer.rulesets for field in each.fields)
        assert answer.engine.version == arrastre.__version__
        with pytest.raises(grpc.aio.AioRpcError):
            await stub.ListRulesets(pb.ListRulesetsRequest(language="xx"))

    run(scenario)


# -- who goes first


def test_interactive_work_goes_before_batches(run: Run) -> None:
    async def scenario(stub: Any, channel: grpc.aio.Channel) -> None:
        items = [request(deal(), nodes=150_000, line=False)] * 16
        batch = stub.SolveBatch(messages(*[pb.SolveBatchRequest(items=items)] * 4))
        reading = asyncio.create_task(batch.read())
        await asyncio.sleep(0.3)
        start = time.monotonic()
        await asyncio.gather(*(stub.Solve(small(str(number))) for number in range(8)))
        assert not reading.done() or time.monotonic() - start < 5
        batch.cancel()

    run(scenario, threads=2)


# -- bad days


def test_malformed_messages_and_rubbish_change_nothing(run: Run) -> None:
    async def scenario(stub: Any, channel: grpc.aio.Channel) -> None:
        address = channel_address[0]
        expected = (await stub.Solve(small("x"))).solution

        def besiege() -> Any:
            host, _, port = address.rpartition(":")
            attack.vandals(host, int(port))
            with grpc.insecure_channel(address) as plain:
                return attack.fuzz(analysis_service_pb2_grpc.AnalysisServiceStub(plain), 150, 3)

        status = await asyncio.to_thread(besiege)
        assert set(status) <= {"OK", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED"}
        assert (await stub.Solve(small("x"))).solution == expected

    channel_address: list[str] = []
    run(scenario, address=channel_address.append, max_seconds=0.3, max_worlds=50)
