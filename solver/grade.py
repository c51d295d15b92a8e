"""How good the decisions of recorded deals were, and what was luck.

Every decision is judged twice, and the two are never mixed: on what its seat could know, by an estimate over worlds,
and in hindsight, with every card seen, by exact search. The result of a deal is then taken apart: what an average deal
brings, the luck of the cards, what each seat's decisions lost, and a rest. ``docs/grading.md`` says what the numbers
mean. Nothing here knows a game; :mod:`arrastre.game` says what a game supplies.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from arrastre import statistics
from arrastre._version import ANSWERS
from arrastre.errors import ArrastreError, Fault, InvalidRequest
from arrastre.estimate import DEFAULT_VIEW, Advice, Watch, watch
from arrastre.exact import Context, check_whole
from arrastre.game import Action, Address, Deal, Game, Knowledge, Limits, Position, Step
from arrastre.record import Record, is_declaration
from arrastre.statistics import Mean
from arrastre.worlds import Worlds

SCHEMA: Final = 1

Basis = Literal["known", "hindsight"]
Label = Literal["equal", "small", "inaccuracy", "mistake", "blunder", "unclear", "over", "renuncio"]
Phase = Literal["draw", "declarations", "arrastre"]

PHASES: Final[tuple[Phase, ...]] = ("draw", "declarations", "arrastre")
LABELS: Final[tuple[Label, ...]] = (
    "equal",
    "small",
    "inaccuracy",
    "mistake",
    "blunder",
    "unclear",
    "over",
    "renuncio",
)
#: A loss of so much of a game earns the label, once it is sure to be more; the gravest first.
THRESHOLDS: Final[tuple[tuple[float, Label], ...]] = ((0.10, "blunder"), (0.05, "mistake"), (0.02, "inaccuracy"))
FLAGS: Final[frozenset[Label]] = frozenset(label for _, label in THRESHOLDS)
#: Less than so many points is no loss.
EQUAL_POINTS: Final = 0.5
#: How many standard errors the bounds of a loss are away from it: 97.5 % lie above the lower one.
Z: Final = 1.96
#: The share of a deal's flags that may be false (Benjamini–Hochberg).
FALSE_FLAGS: Final = 0.05
_SAME: Final = 1e-9
_PASS: Final = "pass"


@dataclass(frozen=True, slots=True)
class Effort:
    """How much work goes into a decision, in worlds and never in seconds, so that it is the same everywhere.

    ``worlds`` are looked at first, up to ``most`` while the label is undecided; 0: the decision is judged in hindsight
    only. ``nodes`` is what an exact search with all cards seen may be reckoned to cost, which says how many tricks
    before the last draw it reaches. ``luck`` worlds go into the value of each chance event.
    """

    name: str
    worlds: int
    most: int
    nodes: int
    luck: int


EFFORTS: Final[Mapping[str, Effort]] = {
    each.name: each
    for each in (
        Effort("quick", 0, 0, 200_000, 0),
        Effort("normal", 256, 1024, 5_000_000, 512),
        Effort("deep", 1024, 16384, 5_000_000, 2048),
    )
}


@dataclass(frozen=True, slots=True)
class Option:
    """An action that a decision was between, and what it is worth to the side of its seat.

    ``points`` (the final margin) and ``game`` (the chance to win the game, 0…1) are means over the worlds in which it
    was tried, with their standard errors, on what the seat could know; ``hindsight_points`` and ``hindsight_game`` are
    exact, with every card seen. ``None``: not looked at, or not known.
    """

    action: Action
    points: float | None = None
    points_error: float | None = None
    game: float | None = None
    game_error: float | None = None
    hindsight_points: float | None = None
    hindsight_game: float | None = None

    def to_dict(self) -> dict[str, Any]:
        return {
            **self.action.to_dict(),
            "points": _number(self.points),
            "pointsError": _number(self.points_error),
            "game": _number(self.game),
            "gameError": _number(self.game_error),
            "hindsightPoints": _number(self.hindsight_points),
            "hindsightGame": _number(self.hindsight_game),
        }


@dataclass(frozen=True, slots=True)
class Decision:
    """One seat's choice between two or more actions at one moment, and what it cost its side.

    ``points_loss`` is in points of margin, ``game_loss`` in chances to win the game (0.05: five percentage points);
    each against the best of the same seat's actions, all others playing on as the view has it. ``best`` is that action.
    ``basis`` says what these and the ``label`` rest on: what the seat could know, or (effort ``quick``) hindsight. The
    hindsight losses are exact. ``None`` is what is not known. A loss on what was known is measured on other worlds than
    those that chose the best action, so it may come out below 0.

    ``counted``: the decision enters the averages. ``unlucky``: as good as any on what was known, yet worse than another
    with all cards seen. ``missed``: the declaration that would certainly have been better than what was done. A
    ``breach`` is the rule that the action broke; it is then not judged any further.
    """

    deal: int
    at: Address
    moment: str
    phase: Phase
    seat: int
    side: int
    player: str
    action: Action
    label: Label
    basis: Basis
    counted: bool
    options: tuple[Option, ...] = ()
    best: Action | None = None
    points_loss: float | None = None
    points_error: float | None = None
    game_loss: float | None = None
    game_error: float | None = None
    hindsight_points_loss: float | None = None
    hindsight_game_loss: float | None = None
    worlds: int = 0
    exact: bool = False
    unlucky: bool = False
    missed: str | None = None
    breach: Fault | None = None

    @property
    def flagged(self) -> bool:
        """Whether the label is an accusation."""
        return self.label in FLAGS

    def to_dict(self) -> dict[str, Any]:
        return {
            "deal": self.deal,
            "at": str(self.at),
            "moment": self.moment,
            "phase": self.phase,
            "seat": self.seat,
            "side": self.side,
            "player": self.player,
            "action": self.action.action,
            "best": None if self.best is None else self.best.action,
            "label": self.label,
            "basis": self.basis,
            "counted": self.counted,
            "pointsLoss": _number(self.points_loss),
            "pointsError": _number(self.points_error),
            "gameLoss": _number(self.game_loss),
            "gameError": _number(self.game_error),
            "hindsightPointsLoss": _number(self.hindsight_points_loss),
            "hindsightGameLoss": _number(self.hindsight_game_loss),
            "worlds": self.worlds,
            "exact": self.exact,
            "unlucky": self.unlucky,
            "missed": self.missed,
            "breach": None if self.breach is None else {"reason": self.breach.reason, "message": self.breach.message},
            "options": [each.to_dict() for each in self.options],
        }


@dataclass(frozen=True, slots=True)
class Draw:
    """The cards drawn after an action, and what they were worth to side 0 over what could be expected of them."""

    at: Address
    value: float

    def to_dict(self) -> dict[str, Any]:
        return {"at": str(self.at), "value": _number(self.value)}


@dataclass(frozen=True, slots=True)
class Luck:
    """Where the margin of a deal came from, in points for side 0 (against side 1).

    ``average`` is what an average deal brings with the same seat to lead; ``dealt`` what this one was worth more, all
    hands seen, the stock not; ``draws`` what each draw brought over its expectation; ``layout`` what choices gained
    because the hidden cards lay as they did, over what could be expected of them. ``lost`` is what the decisions of
    both sides lost on what was known, those of side 1 counted for side 0. ``margin`` is the result and ``residual``
    what the rest leaves of it: what better choices than those of the playouts, and worse ones than those of an exact
    search that sees everything, can be expected to bring; and noise.
    """

    margin: int
    average: float
    dealt: float
    draws: tuple[Draw, ...]
    layout: float
    lost: float

    @property
    def drawn(self) -> float:
        """What all draws brought."""
        return sum(each.value for each in self.draws)

    @property
    def total(self) -> float:
        """All luck."""
        return self.dealt + self.drawn + self.layout

    @property
    def residual(self) -> float:
        return self.margin - self.average - self.total - self.lost

    def to_dict(self) -> dict[str, Any]:
        return {
            "margin": self.margin,
            "average": _number(self.average),
            "dealt": _number(self.dealt),
            "drawn": _number(self.drawn),
            "draws": [each.to_dict() for each in self.draws],
            "layout": _number(self.layout),
            "luck": _number(self.total),
            "lost": _number(self.lost),
            "residual": _number(self.residual),
        }


@dataclass(frozen=True, eq=False)
class DealGrade:
    """A graded deal: its ``decisions`` in the order in which they were taken, and what its margin came from.

    ``players`` and ``sides`` are by seat; a player who is not named is called by the seat.
    ``luck`` is ``None`` at effort ``quick``, and for a deal that has unseen cards or faults or was not played to the
    last card. ``skipped`` counts decisions that could not be judged at all, as the hand or the whole position is not
    known.
    """

    deal: Deal
    effort: Effort
    seed: int
    players: tuple[str, ...]
    sides: tuple[int, ...]
    decisions: tuple[Decision, ...]
    luck: Luck | None
    skipped: int

    @cached_property
    def lost(self) -> tuple[dict[str, Any], ...]:
        """What the counted decisions of each seat lost together."""
        found = []
        for seat in range(len(self.players)):
            mine = [each for each in self.decisions if each.seat == seat and each.counted]
            points = [each.points_loss for each in mine if each.points_loss is not None]
            game = [each.game_loss for each in mine if each.game_loss is not None]
            total = {"points": _number(sum(points)), "game": _number(sum(game))}
            found.append({"seat": seat, "counted": len(mine), **total})
        return tuple(found)

    def __iter__(self) -> Iterator[Decision]:
        return iter(self.decisions)

    def to_dict(self, index: int = 0) -> dict[str, Any]:
        """The JSON form; ``index`` is the item's place in the input."""
        return {
            "schema": SCHEMA,
            "index": index,
            "answers": ANSWERS,
            "deal": self.deal.number,
            "ruleset": self.deal.data.get("ruleset"),
            "effort": self.effort.name,
            "seed": self.seed,
            "record": fingerprint(self.deal),
            "players": list(self.players),
            "sides": list(self.sides),
            "decisions": [each.to_dict() for each in self.decisions],
            "lost": list(self.lost),
            "luck": None if self.luck is None else self.luck.to_dict(),
            "skipped": self.skipped,
            "faults": [fault.to_dict() for fault in self.deal.faults],
        }


class Grading:
    """The graded deals of a record. Iterating gives every decision."""

    def __init__(self, deals: Sequence[DealGrade]) -> None:
        self.deals = tuple(deals)

    def __iter__(self) -> Iterator[Decision]:
        return (decision for deal in self.deals for decision in deal)

    def __len__(self) -> int:
        return sum(len(deal.decisions) for deal in self.deals)


def grade(
    source: Record | Deal,
    *,
    effort: str | Effort = "normal",
    seed: int = 1,
    context: Context | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Grading:
    """Judge every decision of a record or of one of its deals.

    ``effort`` is ``quick`` (hindsight only), ``normal`` or ``deep``, or an :class:`Effort`. The same deal, effort and
    seed give the same answer, whatever other deals there are. ``progress`` is told how many deals of how many are
    done. Raises :class:`~arrastre.errors.InvalidRequest` for an effort or a seed that is none.
    """
    how = effort_named(effort) if isinstance(effort, str) else effort
    check_whole("seed", seed, 0, 2**63 - 1)
    context = context or Context()
    deals = [source] if isinstance(source, Deal) else list(source)
    found: list[DealGrade] = []
    for deal in deals:
        found.append(grade_deal(deal, effort=how, seed=seed, context=context))
        if progress is not None:
            progress(len(found), len(deals))
    return Grading(found)


def effort_named(name: str) -> Effort:
    """One of the efforts. Raises :class:`~arrastre.errors.InvalidRequest`."""
    if name not in EFFORTS:
        message = f"there is no effort {name!r}; there are {', '.join(EFFORTS)}"
        raise InvalidRequest(message, [Fault("effort", "UNKNOWN_EFFORT", message)])
    return EFFORTS[name]


def fingerprint(deal: Deal) -> str:
    """A hash of all that a deal's grades depend on: what was dealt and done, under which rules, and by whom."""
    said = {name: value for name, value in deal.data.items() if name not in _PROSE}
    text = json.dumps(said, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


#: What is said of a deal that no grade depends on.
_PROSE: Final = frozenset(("event", "site", "date", "round", "table", "id", "source", "comment", "game"))


def grade_deal(deal: Deal, *, effort: Effort, seed: int = 1, context: Context | None = None) -> DealGrade:
    """Judge the decisions of one deal, as far as its faults leave no doubt about what was played."""
    return Grader(deal, effort, seed, context or Context()).grade()


@dataclass(frozen=True, slots=True)
class _Choice:
    """A decision to be judged: in which step's position, whose, and what was chosen."""

    step: Step
    at: Address
    seat: int
    action: Action
    breach: Fault | None = None


class Stopped(Exception):
    """A grading was told to stop before it came to its end."""


class Grader:
    """A deal on its way to being graded: :meth:`grade` does it, :meth:`stop` ends it from another thread."""

    def __init__(self, deal: Deal, effort: Effort, seed: int, context: Context) -> None:
        self.deal = deal
        self.game: Game = deal.game
        self.effort = effort
        self.context = context
        self.native = context.native(self.game)
        self.salt = f"{seed}/{fingerprint(deal)}"
        self.seed = seed
        first = deal.steps[0].position if deal.steps else deal.end
        diagram = None if first is None else self.game.describe(first, "en")
        self.sides = [] if diagram is None else [seat.side for seat in diagram.seats]
        given = list(deal.data.get("names") or [])
        letters = [] if diagram is None else [seat.name for seat in diagram.seats]
        self.players = [name or letter for name, letter in zip(given or letters, letters, strict=False)]
        self.skipped = 0
        self._running: Watch | None = None
        self._stopped = False
        #: What the seats' choices made of the hidden cards, in points for side 0, and what they lost.
        self.layout = 0.0
        self.lost = 0.0
        self.taken_apart = bool(effort.luck) and self._played_out()

    def stop(self) -> None:
        """End soon, by :class:`Stopped`."""
        self._stopped = True
        self.context.stop()
        running = self._running
        if running is not None:
            running.stop()

    def _go_on(self) -> None:
        if self._stopped:
            raise Stopped

    def grade(self) -> DealGrade:
        """All decisions of the deal. Raises :class:`Stopped`."""
        found = [each for choice in self.choices() if (each := self.judged(choice)) is not None]
        decisions = tuple(controlled(found))
        luck = self.luck() if self.taken_apart else None
        return DealGrade(
            deal=self.deal,
            effort=self.effort,
            seed=self.seed,
            players=tuple(self.players),
            sides=tuple(self.sides),
            decisions=decisions,
            luck=luck,
            skipped=self.skipped,
        )

    def _played_out(self) -> bool:
        """Whether the deal is known from the first card to the last, and all was played."""
        deal = self.deal
        if deal.faults or deal.end is None or not deal.end.finished() or not deal.steps:
            return False
        # A claim is nothing that a deal can be played on from.
        known = all(step.action in step.position.legal_actions() for step in deal.steps)
        return known and not self.game.obstacles(deal.steps[0].position, "points")

    # -- which decisions there are

    def choices(self) -> Iterator[_Choice]:
        """The decisions of the deal, as far as its positions are beyond doubt."""
        taken: tuple[int, int, int] | None = None
        for place, step in enumerate(self.deal.steps):
            if place >= self.deal.certain_positions:
                self.skipped += 1
                continue
            if not self.effort.worlds and not self.game.within(step.position, self.effort.nodes):
                continue
            where = step.at
            k = taken[2] if taken is not None and taken[:2] == (where.trick, where.place - 1) else 0
            legal = step.position.legal_actions()
            passed = step.action.action == _PASS
            able = sorted({each.seat for each in legal if each.action != _PASS})
            if passed or not where.k:
                # Whoever could have declared something here, and let the card be played, has passed.
                others = able if passed else [seat for seat in able if seat != step.action.seat]
                for seat in others:
                    k += 1
                    at = where if passed else Address(where.trick, where.place - 1, k)
                    yield _Choice(step, at, seat, Action(_PASS, seat))
            mine = [each for each in legal if each.seat == step.action.seat]
            if step.breach is not None or (step.action in mine and not passed and (len(mine) > 1 or where.k)):
                yield _Choice(step, where, step.action.seat, step.action, step.breach)
            taken = (where.trick, where.place, where.k)

    # -- one decision

    def judged(self, choice: _Choice) -> Decision | None:
        """A decision with what it cost; ``None`` if there was nothing to decide, or nobody knows what."""
        self._go_on()
        position = choice.step.position
        if choice.breach is not None:
            return self._decision(choice, (choice.action,), "renuncio", counted=False, breach=choice.breach)
        hindsight: dict[str, Mapping[Action, float]] = {}
        if not self.game.obstacles(position, "points") and self.game.within(position, self.effort.nodes):
            everything = self.game.revealed(position, choice.seat, stock=True)
            hindsight = {objective: self.hindsight(everything, objective) for objective in ("points", "game")}
        if self.effort.worlds:
            try:
                knowledge = self.game.knowledge_at(self.deal, choice.step.at, choice.seat)
            except ArrastreError:
                self.skipped += 1
                return None
            return self.on_what_was_known(choice, knowledge, hindsight)
        if not hindsight:
            self.skipped += 1
            return None
        return self.in_hindsight(choice, everything.actions, hindsight)

    def hindsight(self, everything: Knowledge, objective: str) -> Mapping[Action, float]:
        """The exact value of each of a seat's actions with all cards seen; nothing where the objective has none."""
        if objective not in self.game.objectives or self.game.obstacles(everything.position, objective):
            return {}
        knowledge = everything.under(objective)
        values = self.game.world_values(
            knowledge,
            np.zeros((1, 0), np.uint8),
            knowledge.actions,
            view="clairvoyant",
            objective=objective,
            complete=True,
            limits=Limits(self.effort.nodes),
            context=self.native,
        )
        return dict(zip(knowledge.actions, values[0].tolist(), strict=True))

    def in_hindsight(
        self, choice: _Choice, actions: Sequence[Action], hindsight: Mapping[str, Mapping[Action, float]]
    ) -> Decision:
        """A decision judged with all cards seen, and by that alone."""
        points, game = (_loss(hindsight[objective], choice.action) for objective in ("points", "game"))
        if game is None:
            label: Label = "over"
        else:
            label = labelled(_exactly(points), _exactly(game))
        values = hindsight["game"] or hindsight["points"]
        best = choice.action if label == "equal" else self._best(actions, values, hindsight["points"])
        return self._decision(
            choice,
            actions,
            label,
            counted=game is not None,
            best=best,
            points=_exactly(points),
            game=_exactly(game),
            hindsight=hindsight,
            exact=True,
        )

    @staticmethod
    def _best(actions: Sequence[Action], values: Mapping[Action, float], points: Mapping[Action, float]) -> Action:
        """The first of the actions of the highest value; of several, those that make most points."""
        return max(actions, key=lambda each: (round(values.get(each, -math.inf), 9), points.get(each, -math.inf)))

    def on_what_was_known(
        self, choice: _Choice, knowledge: Knowledge, hindsight: Mapping[str, Mapping[Action, float]]
    ) -> Decision | None:
        """A decision judged on what its seat could know."""
        seed = self._chance(f"{choice.at}/{choice.seat}")
        position = choice.step.position
        points = game = None
        try:
            points = self.estimated(knowledge, choice.action, "points", seed, None)
            if "game" in self.game.objectives and not self.game.obstacles(position, "game"):
                loss = None if points is None else points.loss(choice.action)
                game = self.estimated(knowledge, choice.action, "game", seed, loss)
        except ArrastreError:
            self.skipped += 1
            return None
        if points is not None:
            self._account(choice, points, hindsight.get("points", {}))
        point_loss = None if points is None else points.loss(choice.action)
        game_loss = None if game is None else game.loss(choice.action)
        judge = game or points
        if judge is None:
            return None  # the one action that makes points, in a game that is over
        label: Label = "over" if game_loss is None else labelled(point_loss, game_loss)
        best = judge.best[0]
        if label == "equal" or (label not in FLAGS and choice.action in judge.best):
            best = choice.action
        elif game is not None and points is not None:
            # Under ``game`` many actions are often worth the same; of these the one that makes most points is best.
            best = next((each.action for each in points.actions if each.action in game.best), best)
        return self._decision(
            choice,
            knowledge.actions,
            label,
            counted=game is not None,
            best=best,
            points=point_loss,
            game=game_loss,
            hindsight=hindsight,
            advices=(points, game),
            exact=judge.exact,
        )

    def estimated(
        self, knowledge: Knowledge, action: Action, objective: str, seed: int, points: Mean | None
    ) -> Advice | None:
        """An estimate that goes on until the label is decided; ``None`` where the objective does not know the action.

        Under ``points``, which decides no label but whether there is a loss at all, no more worlds are looked at than
        at first.
        """
        under = knowledge.under(objective)
        if action not in under.actions or len(under.actions) < 2:
            return None
        most = self.effort.worlds if objective == "points" else self.effort.most
        look = self.effort.worlds
        latest: Advice | None = None
        running = watch(under, view=DEFAULT_VIEW, objective=objective, worlds=most, seed=seed, keep=action)
        self._running = running
        self._go_on()
        for latest in running:
            self._go_on()
            if latest.worlds >= look and not latest.final:
                if objective == "game" and decided(points, latest.loss(action)):
                    running.stop()
                    break
                # Few looks, for each is a chance to be wrong.
                look *= 2
        return latest

    def _account(self, choice: _Choice, advice: Advice, hindsight: Mapping[Action, float]) -> None:
        """Note what a decision lost, and what the hidden cards made of it."""
        if not self.taken_apart:
            return
        sign = 1 if self.sides[choice.seat] == 0 else -1
        loss = advice.loss(choice.action).mean
        self.lost -= sign * loss
        self.layout += sign * self._revealed(choice, advice, hindsight)

    def _revealed(self, choice: _Choice, advice: Advice, hindsight: Mapping[Action, float]) -> float:
        """By how much a choice does better, as the hidden hands really lie, than its seat could expect.

        It is compared with what playouts would have chosen in its place: their policy, or an exact search.
        """
        position, listed = choice.step.position, advice.knowledge.actions
        mine = advice.values[:, listed.index(choice.action)]
        if not position.in_draw:
            whole = advice.values[: statistics.length(advice.values.sum(axis=1))]
            expected = whole[:, listed.index(choice.action)] - whole.max(axis=1)
            return hindsight[choice.action] - max(hindsight.values()) - float(expected.mean())
        other = self.game.policy(position, choice.seat)
        if other == choice.action or other not in listed:
            return 0.0
        expected = mine - advice.values[:, listed.index(other)]
        values = self.values_with_open_hands(position, choice.seat, [choice.action, other])
        return float((values[:, 0] - values[:, 1]).mean() - expected[: statistics.length(expected)].mean())

    def _decision(
        self,
        choice: _Choice,
        actions: Sequence[Action],
        label: Label,
        *,
        counted: bool,
        best: Action | None = None,
        points: Mean | None = None,
        game: Mean | None = None,
        hindsight: Mapping[str, Mapping[Action, float]] | None = None,
        advices: tuple[Advice | None, Advice | None] = (None, None),
        exact: bool = False,
        breach: Fault | None = None,
    ) -> Decision:
        seen = hindsight or {"points": {}, "game": {}}
        seen_loss = {objective: _loss(values, choice.action) for objective, values in seen.items()}
        known = bool(self.effort.worlds)
        right = known and label == "equal" and (seen_loss["points"] or 0) >= EQUAL_POINTS
        declared = any(map(self._declares, actions))
        phase: Phase = "declarations" if declared else "draw" if choice.step.position.in_draw else "arrastre"
        better = best is not None and best != choice.action and self._declares(best)
        certain = [each for each in (points, game) if each is not None and _lower(each) > _SAME]
        return Decision(
            deal=self.deal.number,
            at=choice.at,
            moment=choice.step.moment,
            phase=phase,
            seat=choice.seat,
            side=self.sides[choice.seat],
            player=self.players[choice.seat],
            action=choice.action,
            label=label,
            basis="known" if known else "hindsight",
            counted=counted,
            options=() if breach is not None else tuple(_option(each, advices, seen) for each in actions),
            best=best,
            points_loss=None if points is None else points.mean,
            points_error=None if points is None else points.error,
            game_loss=None if game is None else game.mean,
            game_error=None if game is None else game.error,
            hindsight_points_loss=seen_loss["points"],
            hindsight_game_loss=seen_loss["game"],
            worlds=max((each.worlds for each in advices if each is not None), default=0),
            exact=exact,
            unlucky=right,
            missed=best.action if best is not None and better and certain else None,
            breach=breach,
        )

    @staticmethod
    def _declares(action: Action) -> bool:
        return is_declaration(action.action) and action.action != _PASS

    # -- luck

    def luck(self) -> Luck:
        """What the margin of a deal that was played out came from."""
        steps, end = self.deal.steps, self.deal.end
        assert end is not None
        first = steps[0].position
        average = self.game.average(first)
        draws: list[Draw] = []
        for step, after in zip(steps, [*(each.position for each in steps[1:]), end], strict=True):
            self._go_on()
            before = self.game.revealed(step.position, self._decider(step), stock=False)
            if before.items and self._drawn(before, after):
                # What is known of the stock is the same in both, and so is how everybody plays on.
                value = self.value(after) - self.value_of(step)
                draws.append(Draw(step.at, value))
        margin = self._margin(steps[-1])
        self._go_on()
        return Luck(margin, average, self.value(first) - average, tuple(draws), self.layout, self.lost)

    @staticmethod
    def _drawn(before: Knowledge, after: Position) -> bool:
        """Whether cards were drawn on the way to a position."""
        stock = len(after.to_dict().get("stock", ()))
        return stock < len(before.position.to_dict().get("stock", ()))

    def _decider(self, step: Step) -> int:
        """The seat that acts in a step, or could have where it passed."""
        if step.action.action != _PASS:
            return step.action.seat
        return next((each.seat for each in step.position.legal_actions() if each.action != _PASS), step.action.seat)

    def value_of(self, step: Step) -> float:
        """The mean margin of side 0 after an action, all hands open but not the stock, all playing by the view."""
        seat = self._decider(step)
        return self._signed(seat, self.values_with_open_hands(step.position, seat, [Action(step.action.action, seat)]))

    def value(self, position: Position) -> float:
        """The mean margin of side 0 in a position, as for :meth:`value_of`; exact once no card is to be drawn."""
        seat = position.seat
        if not position.in_draw:
            found = self.game.values(
                [position], objective="points", want="value", limits=Limits(), context=self.native, fresh=False
            )
            return float(found[0].lower if self.sides[seat] == 0 else -found[0].lower)
        able = [each.seat for each in position.legal_actions() if each.action != _PASS]
        seat = seat if seat in able else able[0]
        return self._signed(seat, self.values_with_open_hands(position, seat, [self.game.policy(position, seat)]))

    def _signed(self, seat: int, values: NDArray[np.float64]) -> float:
        mean = float(values.mean())
        return mean if self.sides[seat] == 0 else -mean

    def values_with_open_hands(self, position: Position, seat: int, actions: Sequence[Action]) -> NDArray[np.float64]:
        """What actions of a seat are worth to its side over the orders of the stock; shape (orders, actions)."""
        knowledge = self.game.revealed(position, seat, stock=False)
        counted = Worlds(knowledge.allowed, [place.capacity for place in knowledge.places])
        few = counted.count <= self.effort.luck
        # The same orders wherever the stock is the same, whoever is to act.
        orders = counted.enumerate() if few else counted.sample(self._chance("stock"), 0, self.effort.luck)
        return self.game.world_values(
            knowledge,
            orders,
            actions,
            view="informed",
            objective="points",
            complete=False,
            limits=Limits(),
            context=self.native,
        )

    def _margin(self, last: Step) -> int:
        """The final margin of side 0."""
        found = self.game.values(
            [last.position], objective="points", want="all", limits=Limits(), context=self.native, fresh=False
        )
        value = next(each.lower for each in found[0].actions if each.action == last.action)
        return value if self.sides[last.action.seat] == 0 else -value

    def _chance(self, what: str) -> int:
        """A seed of its own for everything in the deal that is drawn by chance."""
        return int.from_bytes(hashlib.blake2b(f"{self.salt}/{what}".encode(), digest_size=7).digest())


# -- labels ----------------------------------------------------------------------------------------------------------


def _lower(loss: Mean) -> float:
    return loss.mean - Z * loss.error if loss.error == loss.error else -math.inf


def _upper(loss: Mean) -> float:
    return loss.mean + Z * loss.error if loss.error == loss.error else math.inf


def labelled(points: Mean | None, game: Mean) -> Label:
    """The label of a decision by its loss in points and in chances to win the game: never more than is sure."""
    lower, upper = _lower(game), _upper(game)
    for threshold, label in THRESHOLDS:
        if lower > threshold + _SAME:
            return label
    least = THRESHOLDS[-1][0]
    if points is not None and _upper(points) < EQUAL_POINTS and upper <= least + _SAME:
        return "equal"
    loses = lower > _SAME or (points is not None and _lower(points) > _SAME)
    return "small" if loses and upper <= least + _SAME else "unclear"


def decided(points: Mean | None, game: Mean) -> bool:
    """Whether more worlds could hardly change the label."""
    label = labelled(points, game)
    if label not in FLAGS:
        return _upper(game) <= THRESHOLDS[-1][0]
    gravest = [name for threshold, name in THRESHOLDS if _upper(game) > threshold + _SAME]
    return gravest[0] == label


def controlled(decisions: Sequence[Decision]) -> list[Decision]:
    """The decisions of one deal with flags taken back that may be chance, so many decisions having been looked at.

    Benjamini–Hochberg: of the flags that stand no more than one in twenty are false on average.
    """
    counted = [index for index, each in enumerate(decisions) if each.counted and each.game_loss is not None]
    chances = {index: _chance_of(decisions[index]) for index in counted}
    order = sorted(counted, key=lambda index: chances[index])
    stands = 0
    for rank, index in enumerate(order, 1):
        if chances[index] <= FALSE_FLAGS * rank / len(order):
            stands = rank
    kept = set(order[:stands])
    return [
        replace(each, label="unclear") if each.flagged and index not in kept else each
        for index, each in enumerate(decisions)
    ]


def _chance_of(decision: Decision) -> float:
    """How likely so great a loss is by chance if no more was lost than goes unflagged."""
    loss, error = decision.game_loss, decision.game_error
    assert loss is not None and error is not None
    over = loss - THRESHOLDS[-1][0]
    if error != error:
        return 1.0
    if error == 0:
        return 0.0 if over > _SAME else 1.0
    return math.erfc(over / error / math.sqrt(2)) / 2


# -- numbers ---------------------------------------------------------------------------------------------------------


def _loss(values: Mapping[Action, float], action: Action) -> float | None:
    """What an action loses against the best; ``None`` where it has no value."""
    return max(values.values()) - values[action] if action in values else None


def _exactly(value: float | None) -> Any:
    return None if value is None else Mean(value, 0.0, 1)


def _option(
    action: Action, advices: tuple[Advice | None, Advice | None], hindsight: Mapping[str, Mapping[Action, float]]
) -> Option:
    found: list[tuple[float | None, float | None]] = []
    for advice in advices:
        if advice is None or action not in advice.knowledge.actions:
            found.append((None, None))
        else:
            estimate = advice[action]
            found.append((estimate.value, estimate.error))
    return Option(action, *found[0], *found[1], hindsight["points"].get(action), hindsight["game"].get(action))


def _number(value: float | None) -> float | None:
    """A number as JSON may hold it, to six places."""
    return None if value is None or value != value else round(float(value), 6) + 0.0
