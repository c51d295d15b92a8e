"""The service under load and under attack, on loopback: figures for docs/service.md.

    python benchmarks/service.py throughput [SECONDS]   positions a second over SolveBatch, and what a call adds
    python benchmarks/service.py load [SECONDS]         ten times what it can do, with somebody who waits for answers
    python benchmarks/service.py faults [MESSAGES]      callers that vanish, that never read, that send rubbish

Each starts a server of its own with two threads. What the server itself measured is read from its log.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import grpc
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError, EncodeError, Message

import arrastre
from arrastre.client import Client, ServiceError, solve_request
from arrastre.v1 import analysis_service_pb2 as pb
from arrastre.v1 import analysis_service_pb2_grpc
from endings import arrastre_position

SCRIPT = Path(sys.executable).with_name("arrastre")
TEXT = "RESE.CB/4O.CC.4B/1E3E7E/RC.4E.SB B 2 - points=32-49 tricks=2-5"


class Server:
    """A server in a process of its own, with what its log says of calls."""

    def __init__(self, process: subprocess.Popen[str], address: str) -> None:
        self.process = process
        self.address = address
        self.calls: list[dict[str, Any]] = []
        self.other: list[dict[str, Any]] = []

    def read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with suppress(ValueError):
                entry = json.loads(line)
                (self.calls if entry["event"] == "call" else self.other).append(entry)

    def memory(self) -> float:
        """Resident memory in MiB."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


@contextmanager
def serving(*options: str) -> Iterator[Server]:
    command = [SCRIPT, "serve", "--lang", "en", "--port", "0", "--threads", "2", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        server = Server(process, process.stderr.readline().split()[-1])
        threading.Thread(target=server.read, daemon=True).start()
        try:
            yield server
        finally:
            process.send_signal(signal.SIGTERM)
            print(f"the server ended with status {process.wait(30)}")


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] if values else float("nan")


def throughput(seconds: float) -> None:
    rng = random.Random(1)
    positions = [arrastre_position(rng, cantes=True) for _ in range(2000)]
    requests = [solve_request(each, line=False) for each in positions]
    messages = [pb.SolveBatchRequest(items=requests[at : at + 64]) for at in range(0, len(requests), 64)]
    kernel = [each.seconds for each in arrastre.solve_many(positions)]
    print(f"the kernel alone: {len(kernel) / sum(kernel):.0f} positions a second on a core")
    with serving() as server, grpc.insecure_channel(server.address) as channel:
        stub = analysis_service_pb2_grpc.AnalysisServiceStub(channel)
        rates = []
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            begun = time.perf_counter()
            answers = sum(len(each.items) for each in stub.SolveBatch(iter(messages)))
            rates.append(answers / (time.perf_counter() - begun))
        print(f"SolveBatch, 64 items a message: {statistics.median(rates):.0f} positions a second, client included")
        over = []
        for request, known in zip(requests, kernel, strict=True):
            begun = time.perf_counter()
            stub.Solve(request, timeout=10)
            over.append(1e3 * (time.perf_counter() - begun - known))
        print(f"a single call adds {statistics.median(over):.2f} ms to the kernel's time (median of {len(over)})")
        policy = pb.BestRequest(text=json.dumps(_first_trick()), effort=pb.EFFORT_POLICY)
        print(f"Best by the rules of thumb: {_median_ms(lambda: stub.Best(policy, timeout=10)):.1f} ms")
    with serving("--threads", "1") as server, grpc.insecure_channel(server.address) as channel:
        stub = analysis_service_pb2_grpc.AnalysisServiceStub(channel)
        heavy = solve_request(_first_trick(), nodes=10**12)
        small = solve_request(TEXT, line=False)
        alone = _median_ms(lambda: stub.Solve(small, timeout=10))
        freed = []
        for _ in range(20):
            held = stub.Solve.future(heavy)
            time.sleep(0.1)
            begun = time.perf_counter()
            held.cancel()
            stub.Solve(small, timeout=10)
            freed.append(1e3 * (time.perf_counter() - begun) - alone)
        print(f"a cancel frees the only thread after {statistics.median(freed):.1f} ms, at most {max(freed):.1f}")


def _median_ms(call: Callable[[], Any], rounds: int = 200) -> float:
    taken = []
    for _ in range(rounds):
        begun = time.perf_counter()
        call()
        taken.append(1e3 * (time.perf_counter() - begun))
    return statistics.median(taken)


def _first_trick() -> dict[str, Any]:
    """A whole deal, of which nobody has played a card."""
    rng = random.Random(4)
    pack = rng.sample([figure + suit for suit in "OCEB" for figure in "1234567SCR"], 40)
    hands = [{"cards": pack[6 * seat : 6 * seat + 6]} for seat in range(4)]
    return {"trump": pack[-1][-1], "hands": hands, "stock": pack[24:], "leader": 0}


async def interactive(stub: Any, end: float, taken: list[float], status: Counter[str]) -> None:
    """Somebody who asks, waits for the answer, and asks again."""
    while time.monotonic() < end:
        begun = time.perf_counter()
        try:
            await stub.Best(pb.BestRequest(id="interactive", text=TEXT, worlds=64), timeout=20)
            taken.append(time.perf_counter() - begun)
            status["OK"] += 1
        except grpc.aio.AioRpcError as error:
            status[error.code().name] += 1
        await asyncio.sleep(0.02)


async def flood(stub: Any, request: pb.SolveRequest, end: float, status: Counter[str], refused: list[float]) -> None:
    """Calls without waiting for answers that have not come."""
    while time.monotonic() < end:
        begun = time.perf_counter()
        try:
            answer = await stub.Solve(request, timeout=30)
            status["OK" if answer.id == request.id else "WRONG"] += 1
        except grpc.aio.AioRpcError as error:
            status[error.code().name] += 1
            if error.code() == grpc.StatusCode.RESOURCE_EXHAUSTED:
                refused.append(time.perf_counter() - begun)
                await asyncio.sleep(0.05)


async def batches(stub: Any, request: pb.SolveRequest, end: float, counts: Counter[str]) -> None:
    """A stream that is fed as fast as it takes, every item counted in and out."""

    async def sent() -> AsyncIterator[pb.SolveBatchRequest]:
        number = 0
        while time.monotonic() < end:
            items = []
            for _ in range(64):
                item = pb.SolveRequest()
                item.CopyFrom(request)
                item.id = str(number)
                number += 1
                items.append(item)
            counts["sent"] += len(items)
            yield pb.SolveBatchRequest(items=items)

    expected = 0
    async for answer in stub.SolveBatch(sent()):
        for item in answer.items:
            counts["answered"] += 1
            counts["out of place"] += item.id != str(expected)
            expected += 1


def load(seconds: float) -> None:
    rng = random.Random(2)
    heavy = solve_request(arrastre.Position.from_dict(_with_draw(rng)), line=False, name="heavy", priority="batch")
    light = solve_request(arrastre_position(rng, cantes=True), line=False)
    with serving("--waiting", "64") as server:

        async def scenario() -> None:
            async with grpc.aio.insecure_channel(server.address) as channel:
                stub: Any = analysis_service_pb2_grpc.AnalysisServiceStub(channel)
                alone: list[float] = []
                await interactive(stub, time.monotonic() + 5, alone, Counter())
                before = len(server.calls)
                unloaded = [each["seconds"] for each in server.calls if each["id"] == "interactive"]
                memory = [server.memory()]
                end = time.monotonic() + seconds
                calls: Counter[str] = Counter()
                waits: Counter[str] = Counter()
                counts: Counter[str] = Counter()
                refused: list[float] = []
                taken: list[float] = []

                async def watch_memory() -> None:
                    while time.monotonic() < end:
                        await asyncio.sleep(1)
                        memory.append(server.memory())

                tasks = [flood(stub, heavy, end, calls, refused) for _ in range(200)]
                tasks += [batches(stub, light, end, counts), interactive(stub, end, taken, waits), watch_memory()]
                await asyncio.gather(*tasks)
                loaded = [each["seconds"] for each in server.calls[before:] if each["id"] == "interactive"]
                fast = [each["seconds"] for each in server.calls[before:] if each["status"] == "RESOURCE_EXHAUSTED"]
                quick, slow = 1e3 * percentile(fast, 0.99), 1e3 * percentile(refused, 0.5)
                print(f"{seconds:.0f} s of 200 callers who never pause, a stream of batches, and one who waits")
                print(f"calls: {dict(calls)}; refused in {quick:.1f} ms (p99 in the server; {slow:.0f} at the caller)")
                print(f"items of the stream: {dict(counts)}")
                print(f"the one who waits: {dict(waits)}")
                one, other = (1e3 * percentile(each, 0.99) for each in (unloaded, loaded))
                print(
                    f"p99 in the server: alone {one:.0f} ms, of {len(unloaded)}; loaded {other:.0f}, of {len(loaded)}"
                )
                print(f"memory: {memory[0]:.0f} MiB before, {max(memory):.0f} at most, {memory[-1]:.0f} at the end")

        asyncio.run(scenario())


def _with_draw(rng: random.Random) -> dict[str, Any]:
    """A position with a draw trick left, which takes some milliseconds."""
    cards = [figure + suit for suit in "OCEB" for figure in "1234567SCR"]
    pack = rng.sample(cards, 28)
    hands = [{"cards": pack[6 * seat : 6 * seat + 6]} for seat in range(4)]
    return {"trump": pack[-1][-1], "hands": hands, "stock": pack[24:], "leader": 0, "tricks": [2, 1]}


# ---- faults ----------------------------------------------------------------------------------------------------------


def scrambled(rng: random.Random, message: Message, depth: int = 0) -> Message:
    """A message with fields set at random, from its descriptor."""
    for field in message.DESCRIPTOR.fields:
        if rng.random() < 0.5:
            continue
        try:
            if field.message_type is not None and field.message_type.GetOptions().map_entry:
                getattr(message, field.name)[_text(rng)] = _text(rng)
            elif field.message_type is not None:
                if depth > 3:
                    continue
                if field.is_repeated:
                    for _ in range(rng.randint(0, 4)):
                        scrambled(rng, getattr(message, field.name).add(), depth + 1)
                else:
                    getattr(message, field.name).SetInParent()
                    scrambled(rng, getattr(message, field.name), depth + 1)
            elif field.is_repeated:
                getattr(message, field.name).extend(_value(rng, field) for _ in range(rng.randint(0, 12)))
            else:
                setattr(message, field.name, _value(rng, field))
        except (TypeError, ValueError):
            continue
    return message


def _value(rng: random.Random, field: Any) -> Any:
    kinds = FieldDescriptor
    if field.enum_type is not None:
        return rng.choice([each.number for each in field.enum_type.values] + [77])
    if field.cpp_type == kinds.CPPTYPE_STRING:
        return _text(rng)
    if field.cpp_type == kinds.CPPTYPE_BOOL:
        return rng.random() < 0.5
    if field.cpp_type in (kinds.CPPTYPE_DOUBLE, kinds.CPPTYPE_FLOAT):
        return rng.choice([0.0, -1.0, 0.05, 1e300, float("nan"), float("inf")])
    return rng.choice([0, 1, -1, 3, 40, 2**31 - 1, -(2**31)])


def _text(rng: random.Random) -> str:
    return rng.choice(
        ["", "1O", "O", "9Z", TEXT, "{", "aragones", "x" * 1000, "\x00", "ñ🂡", '{"hands": [[[]]]}', "7.1", "-1"]
    )


def fuzz(stub: Any, number: int, seed: int) -> Counter[str]:
    """So many malformed messages, whole and with bytes changed; how they were answered."""
    rng = random.Random(seed)
    kinds = [(stub.Solve, pb.SolveRequest), (stub.Best, pb.BestRequest), (stub.ListRulesets, pb.ListRulesetsRequest)]
    streams = [(stub.SolveBatch, pb.SolveBatchRequest), (stub.Grade, pb.GradeRequest)]
    status: Counter[str] = Counter()
    for _ in range(number):
        streaming = rng.random() < 0.3
        call, kind = rng.choice(streams if streaming else kinds)
        message = scrambled(rng, kind())
        if rng.random() < 0.3:
            with suppress(DecodeError, EncodeError):
                data = bytearray(message.SerializeToString())
                for _ in range(3):
                    if data:
                        data[rng.randrange(len(data))] = rng.randrange(256)
                message = kind.FromString(bytes(data))
        try:
            if streaming:
                list(call(iter([message]), timeout=20))
            else:
                call(message, timeout=20)
            status["OK"] += 1
        except grpc.RpcError as error:
            status[error.code().name] += 1
    return status


def vandals(host: str, port: int) -> None:
    """Connections that are left half open, that send rubbish, and that stop in the middle."""
    for data in (
        b"",
        b"GET / HTTP/1.1\r\n\r\n",
        os.urandom(4096),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + os.urandom(500),
    ):
        for _ in range(5):
            with suppress(OSError), socket.create_connection((host, port), timeout=5) as connection:
                connection.sendall(data)


def faults(number: int) -> None:
    with serving("--max-seconds", "2", "--max-worlds", "200") as server:
        host, _, port = server.address.rpartition(":")
        with Client(server.address) as client:
            expected = client.solve(TEXT)
            memory = server.memory()
            held = [socket.create_connection((host, int(port))) for _ in range(20)]
            vandals(host, int(port))
            assert client.solve(TEXT) == expected
            # Callers that never read what they asked for, and stay; and others that vanish in the middle.
            many = [pb.SolveBatchRequest(items=[solve_request(TEXT)] * 64)] * 50
            unread = [grpc.insecure_channel(server.address) for _ in range(5)]
            asked = [analysis_service_pb2_grpc.AnalysisServiceStub(each).SolveBatch(iter(many)) for each in unread]
            for _ in range(20):
                channel = grpc.insecure_channel(server.address)
                stub = analysis_service_pb2_grpc.AnalysisServiceStub(channel)
                stub.SolveBatch(iter(many))
                stub.Solve.future(solve_request(TEXT, nodes=10**9))
                channel.close()
            assert client.solve(TEXT) == expected
            with grpc.insecure_channel(server.address) as channel:
                status = fuzz(analysis_service_pb2_grpc.AnalysisServiceStub(channel), number, 1)
            assert client.solve(TEXT) == expected
            assert len(asked) == len(unread)
            for each in (*held, *unread):
                each.close()
            print(f"{number} malformed messages: {dict(status)}")
            failed = [each for each in server.other if each["event"] == "failed"]
            print(f"failures of the server itself: {len(failed)}; memory {memory:.0f} → {server.memory():.0f} MiB")
            for each in failed[:3]:
                print(each.get("exception", "")[-400:])
            print(
                "20 half-open, 20 of rubbish, 5 that never read, 20 that vanished: the next call was answered rightly"
            )
        server.process.kill()
        server.process.wait()
        with Client(server.address, attempts=1) as client, suppress(ServiceError):
            client.solve(TEXT)


def main() -> None:
    what, *rest = sys.argv[1:] or ["throughput"]
    number = float(rest[0]) if rest else None
    if what == "throughput":
        throughput(number or 10)
    elif what == "load":
        load(number or 60)
    else:
        faults(int(number or 5000))


if __name__ == "__main__":
    main()
