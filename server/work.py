"""What a thread does for a request: the library called with what a message says, and a message made of the answer.

Everything here raises :class:`~arrastre.errors.ArrastreError` for what is wrong with a request.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import arrastre
from arrastre.errors import Fault, InvalidRecord, InvalidRequest
from arrastre.estimate import VIEWS, Advice, Watch, watch
from arrastre.game import Address
from arrastre.grade import Grader
from arrastre.server import convert
from arrastre.server.workers import Job
from arrastre.v1 import analysis_service_pb2 as pb

#: Deals in a record to grade.
MOST_DEALS = 256
#: Seconds between two estimates of a watch.
_SHOWN_EVERY = 0.1


def solved(request: pb.SolveRequest, limits: convert.Limits, job: Job[Any]) -> tuple[pb.SolveResponse, int, int]:
    """A position's exact values, how many positions were looked at for them, and how many were found in the table."""
    options = convert.request_options(request, limits)
    position = convert.request_position(request)
    before = job.context.hits
    solution = arrastre.solve(position, context=job.context, **options)
    message = convert.solution_message(solution.to_dict(0))
    engine = convert.engine_message(position)
    found = job.context.hits - before
    return pb.SolveResponse(id=request.id, solution=message, engine=engine), solution.nodes, found


def graded(
    name: str, index: int, item: arrastre.DealItem, effort: arrastre.Effort, seed: int, job: Job[Any]
) -> pb.GradeResponse:
    """The grades of one deal. Raises :class:`~arrastre.grade.Stopped`."""
    answer = pb.GradeResponse(id=name)
    if item.error is not None:
        answer.status.CopyFrom(convert.refusal(item.error))
    if item.deal is None:
        return answer
    grader = Grader(item.deal, effort, seed, job.context)
    job.running(grader)
    answer.grade.CopyFrom(convert.grade_message(grader.grade().to_dict(index)))
    first = item.deal.steps[0].position if item.deal.steps else item.deal.end
    answer.engine.CopyFrom(convert.engine_message(first))
    return answer


@dataclass
class Question:
    """What is asked about one decision; reads the request, which raises :class:`~arrastre.errors.ArrastreError`."""

    request: pb.BestRequest
    limits: convert.Limits
    #: When the answer has to be on its way, by the monotonic clock.
    ends: float | None

    def __post_init__(self) -> None:
        """Read the position or the record."""
        request = self.request
        self.deal: arrastre.Deal | None = None
        self.at: str | None = None
        if request.WhichOneof("input") == "moment":
            self.deal = _deal(request.moment)
            self.at = str(Address.parse(request.moment.at))
            where = self.deal.position(self.at)
            if not self.deal.is_certain(self.at):
                raise InvalidRecord("the deal has faults", self.deal.faults)
            self.position = where
        else:
            self.position = convert.request_position(request)
        self.engine = convert.engine_message(self.position)

    def final(self, job: Job[Any], show: Callable[[Advice], None] | None = None) -> pb.Advice:
        """The answer; ``show`` is told the estimates before it."""
        options = convert.best_options(self.request, self.limits)
        # Reasons are found in a tenth of the time on top.
        share = 0.85 if self.request.why else 1.0
        advice = self._watched(job, self._in_time(options, share / 2 if self.request.both else share), show)
        data = self.bare(advice)
        if self.request.both:
            others = [each for each in VIEWS if each != options["view"]]
            other = self._in_time(options | {"view": others[0]}, share)
            data["other"] = self._watched(job, other, None).other_dict()
        if self.request.where:
            data["where"] = [each.to_dict() for each in advice.where]
        compared = advice.comparisons(every=True) if self.request.why else ()
        data["why"] = [each.to_dict() for each in compared]
        message = convert.advice_message(data)
        for shown, each in zip(message.why, compared, strict=True):
            for part, known in zip(shown.parts, each.parts, strict=True):
                part.names.update(known.names)
        return message

    def _in_time(self, options: dict[str, Any], share: float) -> dict[str, Any]:
        """The options with no more than a share of the time that is left until the answer has to be on its way."""
        if self.ends is None:
            return options
        return options | {"seconds": max(0.001, min(options["seconds"], share * (self.ends - time.monotonic())))}

    def bare(self, advice: Advice) -> dict[str, Any]:
        """An estimate's JSON form, with the decision that it is about."""
        data = advice.to_dict()
        if self.deal is not None:
            data |= {"deal": self.deal.number, "at": self.at, "faults": [each.to_dict() for each in self.deal.faults]}
        return data

    def by_policy(self) -> pb.Advice:
        """What the rules of thumb do."""
        seat = self.request.seat if self.request.HasField("seat") else self.position.seat
        knowledge = self.position.game.knowledge(self.position, seat)
        action = self.position.game.policy(knowledge.position, seat)
        advice = pb.Advice(seat=seat, view=pb.VIEW_POLICY, objective=pb.OBJECTIVE_POINTS, world_count="0", seed=0)
        advice.best.add(action=action.action, seat=action.seat)
        return advice

    def _watched(self, job: Job[Any], options: dict[str, Any], show: Callable[[Advice], None] | None) -> Advice:
        source = self.position if self.deal is None else self.deal
        running: Watch = watch(source, at=self.at, **options)
        job.running(running)
        shown = time.monotonic()
        for advice in running:
            if advice.final:
                return advice
            if show is not None and time.monotonic() - shown >= _SHOWN_EVERY:
                shown = time.monotonic()
                show(advice)
        raise AssertionError("a watch ends with a final estimate")


def cost(request: pb.SolveRequest) -> float:
    """About how many seconds a position takes, from what can be seen without reading it."""
    if request.HasField("seconds"):
        return min(request.seconds, 1.0)
    stock = len(request.position.stock) if request.WhichOneof("input") == "position" else 0
    return 0.001 if not stock else min(60.0, 0.001 * 20.0 ** (stock / 4))


def deals(request: pb.GradeRequest) -> list[arrastre.DealItem]:
    """The deals of a record to grade."""
    lines = request.record.encode("utf-8", "replace").splitlines(keepends=True)
    found: list[arrastre.DealItem] = []
    for item in arrastre.read_deals(lines, ruleset=request.ruleset or None):
        if len(found) == MOST_DEALS:
            message = f"a record has {MOST_DEALS} deals at most"
            raise InvalidRequest("too many deals", [Fault("record", "TOO_MANY_DEALS", message)])
        found.append(item)
    if not found:
        raise InvalidRequest("there is no deal", [Fault("record", "MISSING", "there is no deal in the record")])
    return found


def _deal(moment: pb.RecordMoment) -> arrastre.Deal:
    """The deal that a moment is of."""
    lines = moment.record.encode("utf-8", "replace").splitlines(keepends=True)
    items = list(arrastre.read_deals(lines))
    wanted = moment.deal if moment.HasField("deal") else None
    chosen = [each for each in items if wanted is None or (each.deal is not None and each.deal.number == wanted)]
    if len(chosen) != 1:
        message = f"the record has {len(items)} deals; say which" if wanted is None else f"there is no deal {wanted}"
        raise InvalidRequest("which deal is not said", [Fault("moment.deal", "NO_SUCH_DEAL", message)])
    if chosen[0].deal is None:
        assert chosen[0].error is not None
        raise chosen[0].error
    return chosen[0].deal
