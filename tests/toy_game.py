"""A game that the package does not know: a few cards, rules of its own, solved by plain recursion.

Three seats, the first and the third against the second. Seven cards, the 1 to 7 of oros. Any card may be led; whoever
follows must beat the trick if able. The highest card takes the trick (under ``menor`` the lowest, and "beats" means
"goes below"), which is worth the number on its lowest card. Once in a deal the leader may say ``doblar``: the trick to
come counts double. Cards that are neither in a hand nor played have not been dealt, and nobody sees them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arrastre import notation
from arrastre.errors import Fault, IllegalAction, InvalidPosition, InvalidRequest, InvalidRules
from arrastre.game import (
    Action,
    ActionValue,
    Address,
    Deal,
    Diagram,
    Face,
    Game,
    Knowledge,
    Limits,
    NativeContext,
    Part,
    Place,
    Position,
    RuleRow,
    Score,
    SeatView,
    Step,
    Table,
    Values,
    View,
    Want,
    register,
    unregister,
)

SEATS = 3
DOUBLE = "doblar"
CARDS = range(1, 8)
FIELDS = ("schema", "ruleset", "players", "hands", "leader", "trick", "points", "doubled", "double", "gone")
OUTCOMES = {1: "arriba", 0: "igual", -1: "abajo"}


def side(seat: int) -> int:
    return seat & 1


@dataclass(frozen=True, slots=True)
class ToyPosition(Position):
    """``doubled``: the double has been used; ``double``: the trick on the table, or the next one, counts double.

    ``hidden`` counts the cards of each hand that are not seen, ``gone`` are those played in earlier tricks.
    """

    ruleset: str
    hands: tuple[tuple[int, ...], ...]
    leader: int
    trick: tuple[int, ...]
    points: tuple[int, int]
    doubled: bool
    double: bool
    hidden: tuple[int, ...] = (0,) * SEATS
    gone: tuple[int, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema": 1,
            "ruleset": self.ruleset,
            "hands": [
                {"cards": [f"{card}O" for card in hand], "hidden": hidden}
                for hand, hidden in zip(self.hands, self.hidden, strict=True)
            ],
            "leader": self.leader,
            "trick": [f"{card}O" for card in self.trick],
            "points": list(self.points),
            "doubled": self.doubled,
            "double": self.double,
            "gone": [f"{card}O" for card in self.gone],
        }

    @property
    def seat(self) -> int:
        return (self.leader + len(self.trick)) % SEATS

    def legal_actions(self) -> tuple[Action, ...]:
        actions = [f"{card}O" for card in self.hands[self.seat]] + [DOUBLE]
        return tuple(Action(each, self.seat) for each in actions if self.why_not(each) is None)

    def why_not(self, action: str, lang: str = "en") -> str | None:
        if action == DOUBLE:
            allowed = not self.trick and not self.doubled and not self.finished()
            return None if allowed else ("no se puede doblar ahora" if lang == "es" else "nobody may double now")
        hand, table = self.hands[self.seat], self.trick
        card = int(action[0]) if len(action) == 2 and action[0] in "1234567" and action[1] in "Oo" else 0
        if card not in hand:
            return f"{action}: no está en la mano" if lang == "es" else f"{action} is not in the hand"
        if table and not self.beats(card) and any(self.beats(each) for each in hand):
            return f"hay que superar el {self.best()}O" if lang == "es" else f"must beat the {self.best()}O"
        return None

    def best(self) -> int:
        return max(self.trick) if self.ruleset == "mayor" else min(self.trick)

    def beats(self, card: int) -> bool:
        return card > self.best() if self.ruleset == "mayor" else card < self.best()

    def apply(self, action: Action | str) -> ToyPosition:
        text = action if isinstance(action, str) else action.action
        why = self.why_not(text)
        if why is not None:
            raise IllegalAction(f"{text} is not allowed: {why}", [Fault("action", "TOY_DUTY", why)])
        if text == DOUBLE:
            return replace(self, doubled=True, double=True)
        card, seat = int(text[0]), self.seat
        hands = tuple(tuple(c for c in hand if c != card) for hand in self.hands)
        trick = (*self.trick, card)
        if len(trick) < SEATS:
            return replace(self, hands=hands, trick=trick)
        best = max(trick) if self.ruleset == "mayor" else min(trick)
        winner = (seat + 1 + trick.index(best)) % SEATS
        points = list(self.points)
        points[side(winner)] += min(trick) * (1 + self.double)
        gone = tuple(sorted((*self.gone, *trick)))
        score = (points[0], points[1])
        return replace(self, hands=hands, trick=(), leader=winner, points=score, double=False, gone=gone)

    def finished(self) -> bool:
        return not any(self.hands) and not any(self.hidden)

    def seen_by(self, seat: int, gone: Sequence[int]) -> ToyPosition:
        """The position with nothing in it that the seat does not see."""
        hands = tuple(hand if each == seat else () for each, hand in enumerate(self.hands))
        sizes = [len(hand) + hidden for hand, hidden in zip(self.hands, self.hidden, strict=True)]
        hidden = tuple(0 if each == seat else size for each, size in enumerate(sizes))
        return replace(self, hands=hands, hidden=hidden, gone=tuple(sorted(gone)))


@dataclass(frozen=True, kw_only=True, eq=False)
class ToyKnowledge(Knowledge):
    def world(self, assignment: Sequence[int]) -> ToyPosition:
        assert isinstance(self.position, ToyPosition)
        hands = [list(hand) for hand in self.position.hands]
        for item, number in zip(self.items, assignment, strict=True):
            place = self.places[number]
            if place.kind == "hand":
                hands[place.seat].append(int(item[0]))
        whole = tuple(tuple(sorted(hand, reverse=True)) for hand in hands)
        return replace(self.position, hands=whole, hidden=(0,) * SEATS)


def known(position: ToyPosition, seat: int, cannot: Mapping[int, set[int]], moment: Position) -> ToyKnowledge:
    """What the seat knows when it sees this much; ``cannot`` are cards that a seat is known not to hold."""
    if not 0 <= seat < SEATS:
        raise InvalidRequest(f"there is no seat {seat}", [Fault("seat", "BAD_SEAT", f"the seats are 0 to {SEATS - 1}")])
    if position.finished():
        message = "no cards are left to play"
        raise InvalidRequest("there is nothing to decide", [Fault("hands", "DEAL_OVER", message)])
    if seat != position.seat:
        message = f"it is seat {position.seat}'s turn"
        raise InvalidRequest(f"seat {seat} has nothing to decide", [Fault("seat", "NOT_TO_ACT", message)])
    if position.hidden[seat]:
        message = "the seat's own hand is not known"
        raise InvalidRequest(message, [Fault(f"hands[{seat}].hidden", "OWN_HAND_UNSEEN", message)])
    seen = {*position.hands[seat], *position.trick, *position.gone}
    items = [card for card in CARDS if card not in seen]
    places = [Place("hand", each, 0, hidden) for each, hidden in enumerate(position.hidden) if hidden]
    places += [Place("stock", -1, index, 1) for index in range(len(items) - sum(position.hidden))]
    allowed = [
        sum(1 << number for number, place in enumerate(places) if card not in cannot.get(place.seat, ()))
        for card in items
    ]
    actions = sorted(moment.legal_actions(), key=lambda action: TOY.tie_key(position, action))
    return ToyKnowledge(
        seat=seat,
        position=position,
        items=tuple(f"{card}O" for card in items),
        played=(False,) * len(items),
        places=tuple(places),
        allowed=tuple(allowed),
        actions=tuple(actions),
    )


def played_on(position: ToyPosition) -> ToyPosition:
    """The position after everybody has played the lowest card allowed, to the end."""
    while not position.finished():
        position = position.apply(lowest(position))
    return position


def lowest(position: ToyPosition) -> Action:
    """The lowest card that may be played."""
    return min((each for each in position.legal_actions() if each.action != DOUBLE), key=lambda each: each.action)


class ToyContext(NativeContext):
    def __init__(self) -> None:
        self.stopped = False

    def stop(self) -> None:
        self.stopped = True

    def resume(self) -> None:
        self.stopped = False


class CutError(Exception):
    pass


class Search:
    def __init__(self, context: ToyContext, limit: int, sign: bool) -> None:
        self.context, self.limit, self.sign, self.nodes = context, limit, sign, 0

    def value(self, position: ToyPosition) -> int:
        """The final margin of the first side, or its sign."""
        self.nodes += 1
        if self.context.stopped or self.nodes > self.limit:
            raise CutError
        if position.finished():
            margin = position.points[0] - position.points[1]
            return (margin > 0) - (margin < 0) if self.sign else margin
        values = [self.value(position.apply(action)) for action in position.legal_actions()]
        return max(values) if side(position.seat) == 0 else min(values)


class ToyValues(Values):
    def __init__(self, lower: int, upper: int, nodes: int, actions: tuple[ActionValue, ...]) -> None:
        self._lower, self._upper, self._nodes, self._actions = lower, upper, nodes, actions

    @property
    def lower(self) -> int:  # type: ignore[override]  # the protocol lets a game compute it
        return self._lower

    @property
    def upper(self) -> int:  # type: ignore[override]
        return self._upper

    @property
    def nodes(self) -> int:  # type: ignore[override]
        return self._nodes

    @property
    def actions(self) -> tuple[ActionValue, ...]:
        return self._actions


class ToyDeal(Deal):
    pass


@dataclass(frozen=True, slots=True)
class ToyScore(Score):
    points: tuple[tuple[int, int], ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "deals": [list(each) for each in self.points],
            "total": [sum(side) for side in zip(*self.points, strict=True)],
        }

    def tables(self, lang: str) -> tuple[Table, ...]:
        head = ("Tantos AC", "B") if lang == "es" else ("Points AC", "B")
        return (Table(head, tuple((str(first), str(second)) for first, second in self.points)),)


class ToyGame(Game):
    name = "toy"
    rulesets = ("mayor", "menor")
    objectives = ("points", "game")

    def position(self, raw: notation.Raw) -> ToyPosition:
        data, faults = raw.fields(notation.names(FIELDS))
        hands = [self._cards(raw, f"hands[{i}]", hand, faults) for i, hand in enumerate(data.get("hands", []))]
        trick = self._cards(raw, "trick", data.get("trick", []), faults)
        if len(hands) != SEATS:
            faults.append(raw.fault("hands", "TOY_SEATS", f"there are {SEATS} seats"))
        gone = self._cards(raw, "gone", data.get("gone", []), faults)
        hidden = [hand.get("hidden", 0) if isinstance(hand, Mapping) else 0 for hand in data.get("hands", [])]
        everything = [card for hand in hands for card in hand] + trick + gone
        if len(everything) + sum(hidden) > len(CARDS):
            faults.append(raw.fault("hands", "TOY_CARDS", f"there are {len(CARDS)} cards"))
        faults += [
            raw.fault("hands", "CARD_TWICE", f"{c}O twice", f"{c}O") for c in {*everything} if everything.count(c) > 1
        ]
        if faults:
            raise InvalidPosition("the position has faults", faults)
        return ToyPosition(
            data["ruleset"],
            tuple(tuple(sorted(hand, reverse=True)) for hand in hands),
            data.get("leader", 0),
            tuple(trick),
            tuple(data.get("points", (0, 0))),
            data.get("doubled", False),
            data.get("double", False),
            tuple(hidden),
            tuple(sorted(gone)),
        )

    def _cards(self, raw: notation.Raw, path: str, given: Any, faults: list[Fault]) -> list[int]:
        cards = given["cards"] if isinstance(given, Mapping) else given
        good = [card for card in cards if card[:1] in "1234567" and card[1:] == "O"]
        faults += [raw.fault(path, "UNKNOWN_CARD", f"{card} is no card", card) for card in cards if card not in good]
        return [int(card[0]) for card in good]

    def context(self, memory_mb: int) -> NativeContext:
        return ToyContext()

    def obstacles(self, position: Position, objective: str) -> tuple[Fault, ...]:
        assert isinstance(position, ToyPosition)
        if any(position.hidden):
            return (Fault("hands", "HIDDEN_CARDS", "exact values need every card to be known"),)
        return (Fault("hands", "DEAL_OVER", "no cards are left to play"),) if position.finished() else ()

    def values(
        self,
        positions: Sequence[Position],
        *,
        objective: str,
        want: Want,
        limits: Limits,
        context: NativeContext,
        fresh: bool,
    ) -> Sequence[Values]:
        assert isinstance(context, ToyContext)
        return [self._values(each, objective, want, limits, context) for each in positions]

    def _values(self, position: Position, objective: str, want: Want, limits: Limits, context: ToyContext) -> ToyValues:
        assert isinstance(position, ToyPosition)
        search = Search(context, limits.nodes or 10**9, objective == "game")
        ours = 1 if side(position.seat) == 0 else -1
        most = 1 if objective == "game" else 100
        found = []
        for action in position.legal_actions():
            try:
                value = ours * search.value(position.apply(action))
                found.append(ActionValue(action, value, value))
            except CutError:
                found.append(ActionValue(action, -most, most))
        lower, upper = max(each.lower for each in found), max(each.upper for each in found)
        return ToyValues(lower, upper, search.nodes, () if want == "value" else tuple(found))

    def knowledge(self, position: Position, seat: int) -> Knowledge:
        assert isinstance(position, ToyPosition)
        if any(position.hidden):
            return known(position, seat, {}, position)
        # What is neither in a hand nor on the table is then known to be out of the game.
        here = {*position.trick, *(card for hand in position.hands for card in hand)}
        seen = position.seen_by(seat, [card for card in CARDS if card not in here])
        return known(seen, seat, {}, position)

    def knowledge_at(self, deal: Deal, at: Address, seat: int | None) -> Knowledge:
        now = deal.position(at)
        assert isinstance(now, ToyPosition)
        cannot: dict[int, set[int]] = {}
        for step in deal.steps:
            before = step.position
            assert isinstance(before, ToyPosition)
            if before is now:
                break
            # Whoever did not beat the trick could not.
            if before.trick and not before.beats(int(step.action.action[0])):
                cannot.setdefault(step.action.seat, set()).update(card for card in CARDS if before.beats(card))
        who = now.seat if seat is None else seat
        return known(now.seen_by(who, now.gone), who, cannot, now)

    def revealed(self, position: Position, seat: int, *, stock: bool) -> Knowledge:
        assert isinstance(position, ToyPosition)
        actions = position.legal_actions() if seat == position.seat else ()
        ordered = tuple(sorted(actions, key=lambda action: self.tie_key(position, action)))
        return ToyKnowledge(seat=seat, position=position, items=(), played=(), places=(), allowed=(), actions=ordered)

    def within(self, position: Position, nodes: int) -> bool:
        return True

    def policy(self, position: Position, seat: int) -> Action:
        assert isinstance(position, ToyPosition)
        return lowest(position)

    def average(self, position: Position) -> float:
        """Exactly: over every way to deal two cards to each seat."""
        assert isinstance(position, ToyPosition)
        margins = []
        for deal in permutations(CARDS, 2 * SEATS):
            hands = tuple(tuple(sorted(deal[2 * seat : 2 * seat + 2], reverse=True)) for seat in range(SEATS))
            if all(deal[2 * seat] > deal[2 * seat + 1] for seat in range(SEATS)):
                end = played_on(replace(position, hands=hands))
                margins.append(end.points[0] - end.points[1])
        return sum(margins) / len(margins)

    def world_parts(self, knowledge: Knowledge, worlds: object, actions: object, **asked: object) -> tuple[Part, ...]:
        return ()

    def world_values(
        self,
        knowledge: Knowledge,
        worlds: NDArray[np.uint8],
        actions: Sequence[Action],
        *,
        view: View,
        objective: str,
        complete: bool,
        limits: Limits,
        context: NativeContext,
    ) -> NDArray[np.float64]:
        """``informed``: everybody plays low; ``clairvoyant``: everybody plays as the world demands."""
        assert isinstance(knowledge, ToyKnowledge) and isinstance(context, ToyContext)
        found = np.full((len(worlds), len(actions)), np.nan)
        ours = 1 if side(knowledge.seat) == 0 else -1
        deadline = None if limits.seconds is None else time.monotonic() + limits.seconds
        for row, assignment in enumerate(worlds.tolist()):
            if context.stopped or (deadline is not None and time.monotonic() > deadline):
                break
            world = knowledge.world(assignment)
            for column, action in enumerate(actions):
                after = world.apply(action)
                after = played_on(after) if view == "informed" else after
                value = ours * Search(ToyContext(), 10**9, objective == "game").value(after)
                found[row, column] = (1 + value) / 2 if objective == "game" else value
        return found

    def tie_key(self, position: Position, action: Action) -> tuple[int, ...]:
        return (0,) if action.action == DOUBLE else (1, int(action.action[0]))

    def outcome(self, position: Position, objective: str, value: int, end: Callable[[], Position]) -> str | None:
        return OUTCOMES[value] if objective == "game" else None

    def trick_won(self, before: Position, after: Position) -> tuple[int, int] | None:
        assert isinstance(before, ToyPosition)
        assert isinstance(after, ToyPosition)
        if len(before.trick) < SEATS - 1 or after.trick:
            return None
        return after.leader, sum(after.points) - sum(before.points)

    def describe(self, position: Position, lang: str) -> Diagram:
        assert isinstance(position, ToyPosition)
        seats = zip("ABC", position.hands, strict=True)
        return Diagram(
            seats=tuple(
                SeatView(name, side(seat), tuple(Face(f"{card}O", 0) for card in hand), position.hidden[seat])
                for seat, (name, hand) in enumerate(seats)
            ),
            turn=position.seat,
            trick=tuple(((position.leader + i) % SEATS, Face(f"{card}O", 0)) for i, card in enumerate(position.trick)),
            stock=(),
            muestra=None,
            facts=(("Tantos" if lang == "es" else "Points", f"AC {position.points[0]}  B {position.points[1]}"),),
        )

    def face(self, position: Position, action: Action, lang: str) -> Face:
        return Face(action.action, -1 if action.action == DOUBLE else 0)

    def rules(self, name: str, overrides: Mapping[str, Any], players: int, lang: str) -> tuple[RuleRow, ...]:
        if overrides:
            faults = [Fault(f"rules.{each}", "UNKNOWN_RULE", f"rulesets have no field '{each}'") for each in overrides]
            raise InvalidRules("the rules have faults", faults)
        winner = "highest" if name == "mayor" else "lowest"
        meaning = "qué carta gana la baza" if lang == "es" else "which card takes the trick"
        return (RuleRow("winner", winner, "highest", winner != "highest", meaning, ("highest", "lowest")),)

    def replay(self, raw: notation.Raw, previous: Deal | None) -> ToyDeal:
        fields = ("event", "ruleset", "players", "deal", "leader", "hands", "events", "result", "finished", "comment")
        data, faults = raw.fields(notation.names(fields))
        ruleset = data.get("ruleset", "mayor")
        number = int(data.get("deal", 1 if previous is None else previous.number + 1))
        leader = "NOS".find(str(data.get("leader", "N")))
        hands = [hand if isinstance(hand, Mapping) else {"cards": list(hand)} for hand in data.get("hands", ())]
        start = {"ruleset": ruleset, "hands": hands, "leader": leader}
        steps: list[Step] = []
        events: list[dict[str, Any]] = []
        end: ToyPosition | None = None
        try:
            end = self.position(notation.Raw(start, raw.columns, (), raw.lines))
        except InvalidPosition as error:
            faults += error.faults
        trick, table, k = 1, 0, 0
        for index, event in enumerate(data.get("events", ()) if end is not None else ()):
            assert end is not None
            text, seat = event["action"], end.seat
            why = end.why_not(text)
            if why is not None:
                faults.append(raw.fault(f"events[{index}].action", "TOY_DUTY", why, text))
                break
            card = text != DOUBLE
            at = Address(trick, table + 1) if card else Address(trick, table, k + 1)
            steps.append(Step(at, "lead", end, Action(text, seat)))
            events.append({"trick": trick, "seat": seat, "action": text})
            end = end.apply(text)
            table, k = (table + 1, 0) if card else (table, k + 1)
            if table == SEATS:
                trick, table = trick + 1, 0
        clean = [{"cards": list(hand["cards"]), "hidden": 0} for hand in hands]
        head = {"event": data.get("event", ""), "ruleset": ruleset, "players": SEATS, "deal": number}
        tail = {"leader": "NOS"[leader], "hands": clean, "events": events}
        result = None if end is None or not end.finished() else list(end.points)
        last = {"result": result, "finished": result is not None, "comment": data.get("comment", "")}
        return ToyDeal(number=number, data=head | tail | last, steps=tuple(steps), end=end, faults=tuple(faults))

    def readings(self, raw: notation.Raw) -> Iterator[notation.Raw]:
        for name in self.rulesets:
            yield replace(raw, data={**raw.data, "ruleset": name})

    def score(self, deals: Sequence[Deal]) -> ToyScore:
        ends = [deal.end for deal in deals if isinstance(deal.end, ToyPosition)]
        return ToyScore(tuple(end.points for end in ends))


TOY = ToyGame()
ToyPosition.game = TOY
ToyDeal.game = TOY


@contextmanager
def registered() -> Iterator[ToyGame]:
    """The game, known to the package for a while."""
    register(TOY)
    try:
        yield TOY
    finally:
        unregister(TOY)
