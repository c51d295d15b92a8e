"""Who gets a thread next."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from arrastre.server.workers import BusyError, Job, Workers


def play(scenario: Any, **settings: Any) -> None:
    async def both() -> None:
        workers = Workers(**{"threads": 1, "memory_mb": 1, "waiting": 100, "seconds": 1e9} | settings)
        try:
            await scenario(workers)
        finally:
            workers.stop()
            await asyncio.to_thread(workers.close)

    asyncio.run(asyncio.wait_for(both(), 30))


class Gate:
    """Work that waits until it is let go, and notes who was served."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.served: list[str] = []

    def hold(self, job: Job[None]) -> None:
        self.open.wait(10)

    def note(self, name: str) -> Any:
        return lambda job: self.served.append(name)


def test_interactive_first_and_clients_in_turn() -> None:
    async def scenario(workers: Workers) -> None:
        gate = Gate()
        tasks = [asyncio.create_task(workers.run(gate.hold))]
        await asyncio.sleep(0.05)
        for name, client, urgency in [
            ("a1", "a", "batch"),
            ("a2", "a", "batch"),
            ("a3", "a", "batch"),
            ("b1", "b", "batch"),
            ("i1", "a", "interactive"),
            ("i2", "a", "interactive"),
            ("j1", "b", "interactive"),
        ]:
            ask = workers.run(gate.note(name), client=client, urgency=urgency)  # type: ignore[arg-type]
            tasks.append(asyncio.create_task(ask))
        await asyncio.sleep(0.05)
        gate.open.set()
        await asyncio.gather(*tasks)
        assert gate.served == ["i1", "j1", "i2", "a1", "b1", "a2", "a3"]

    play(scenario)


def test_long_batch_work_leaves_a_thread() -> None:
    async def scenario(workers: Workers) -> None:
        gate, quick = Gate(), Gate()
        long = [asyncio.create_task(workers.run(gate.hold, urgency="batch", cost=1.0)) for _ in range(4)]
        await asyncio.sleep(0.05)
        assert workers.busy == 1 and workers.waiting == 3
        await workers.run(quick.note("short"), client="another", urgency="batch", cost=0.01)
        await workers.run(quick.note("now"))
        assert quick.served == ["short", "now"]
        gate.open.set()
        await asyncio.gather(*long)

    play(scenario, threads=2)


@pytest.mark.parametrize("settings", [{"waiting": 2}, {"seconds": 2.0}])
def test_what_would_be_too_much_is_refused(settings: dict[str, Any]) -> None:
    async def scenario(workers: Workers) -> None:
        gate = Gate()
        tasks = [asyncio.create_task(workers.run(gate.hold, cost=1.0)) for _ in range(3)]
        await asyncio.sleep(0.05)
        with pytest.raises(BusyError) as error:
            await workers.run(gate.hold, cost=1.0)
        assert error.value.after > 0
        # Somebody who leaves makes room.
        tasks.pop().cancel()
        await asyncio.sleep(0.05)
        tasks.append(asyncio.create_task(workers.run(gate.note("late"), cost=1.0)))
        gate.open.set()
        await asyncio.gather(*tasks)
        assert gate.served == ["late"]
        assert (workers.waiting, workers.busy) == (0, 0)

    play(scenario, **settings)


def test_a_stop_reaches_what_is_started_later() -> None:
    class Thing:
        stopped = False

        def stop(self) -> None:
            self.stopped = True

    async def scenario(workers: Workers) -> None:
        gate, thing = Gate(), Thing()

        def work(job: Job[bool]) -> bool:
            gate.open.wait(10)
            job.running(thing)
            return thing.stopped

        task = asyncio.create_task(workers.run(work))
        await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.sleep(0.05)
        gate.open.set()
        await asyncio.to_thread(workers.close)
        assert thing.stopped

    play(scenario)
