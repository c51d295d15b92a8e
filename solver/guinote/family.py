"""The Guiñote family as a game: what :mod:`arrastre.game` asks for, answered by the rules, the gate and the kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arrastre import notation
from arrastre.cards import CARDS, FIGURES, SUITS, UNKNOWN, Deck, card_text, suit_text
from arrastre.errors import Fault
from arrastre.game import (
    DEFAULT_NODES,
    Action,
    ActionValue,
    Address,
    Beyond,
    Deal,
    Diagram,
    Face,
    Game,
    Knowledge,
    Limits,
    NativeContext,
    Part,
    Position,
    RuleRow,
    Score,
    Values,
    View,
    Want,
)
from arrastre.guinote import describe, kernel, knowledge, playout, replay, scoring, vector
from arrastre.guinote import ismcts as tree
from arrastre.guinote.equity import row_for, vueltas_equity
from arrastre.guinote.gate import read_position
from arrastre.guinote.position import (
    BEFORE_DRAW,
    BEFORE_DRAW_RIVALS,
    CAMBIO,
    CANTE,
    LEAD,
    PASS,
    PLAY,
    RIVALS,
    TUTE,
    GuinotePosition,
)
from arrastre.guinote.rules import RULESETS, Ruleset
from arrastre.worlds import Worlds

if TYPE_CHECKING:
    from numpy.typing import NDArray

POINTS: Final = "points"
GAME: Final = "game"
WIN, LOSE, VUELTAS, REPLAY = "win", "lose", "vueltas", "replay"

# The kernel's numbers, as kernel.pxd has them.
_OBJECTIVES: Final = {POINTS: 0, GAME: 1}
_WANTS: Final[dict[Want, int]] = {"all": 0, "best": 1, "value": 2}
_MOMENTS: Final = {RIVALS: 1, BEFORE_DRAW_RIVALS: 2, BEFORE_DRAW: 3}
_VIEWS: Final[dict[View, int]] = {"informed": 0, "clairvoyant": 1}
_LANE: Final = 16
_UNSEEN: Final = 255
_ALL_SUITS: Final = 0b1111
_CARD: Final = 0
#: By the number of players: nodes that the exact search of one world is reckoned to need, all its actions valued, with
#: 0, 1, 2, … draw tricks left. Typical figures (benchmarks/worlds_values.py), rounded.
_NOMINAL_NODES: Final = {4: (10_000, 200_000, 5_000_000), 2: (200, 500, 7_000, 50_000, 350_000)}
#: What the rest of a deal brings, in the order of the playouts' details (each for the side, then for its rivals).
_PARTS: Final = ({"en": "cantes", "es": "cantes"}, {"en": "points in tricks", "es": "tantos en bazas"})
#: The last tricks in which partners are known not to see each other's cards (vector.pxd).
_VECTOR_PLAYERS: Final = 4
_VECTOR_TRICKS: Final = 2
#: By the number of players, tricks left from which on all cards are seen in a world of the informed view. Two players
#: see all cards once none is left to draw. With four, whoever takes the arrastre for open plays worse
#: (docs/strength.md).
_INFORMED_TRICKS: Final = {4: 3, 2: 6}
#: Over how many deals the average deal is taken: the mean is then good to half a point.
_AVERAGED: Final = 8192
#: What a world may cost unless a caller says otherwise.
_WORLD_NODES: Final = 200_000


class _Native(NativeContext):
    def __init__(self, memory_mb: int) -> None:
        self.kernel = kernel.Context(memory_mb)

    def stop(self) -> None:
        self.kernel.stop()

    def resume(self) -> None:
        self.kernel.resume()

    @property
    def hits(self) -> int:
        return self.kernel.hits


@dataclass(frozen=True, slots=True)
class _Lexicon:
    """How one pack under one trump translates between cards, the kernel's numbers, texts and the order among equals.

    ``numbers[card]`` is the kernel's number of a card and ``lanes[suit]`` its lane; ``texts[kind]`` maps the kernel's
    argument to the action's text, ``actions`` a text to both; ``ties`` maps a text to its place among actions of equal
    value, ``places`` a kernel's card to its place in the order in which hands are written.
    """

    numbers: tuple[int, ...]
    lanes: tuple[int, ...]
    texts: tuple[Mapping[int, str], ...]
    actions: Mapping[str, tuple[int, int]]
    ties: Mapping[str, tuple[int, ...]]
    places: Mapping[int, int]


@lru_cache(maxsize=64)
def _lexicon(
    deck: Deck, strengths: tuple[int, ...], points: tuple[int, ...], places: tuple[int, ...], trump: int
) -> _Lexicon:
    order = [trump, *(suit for suit in range(SUITS) if suit != trump)]
    lanes = tuple(order.index(suit) for suit in range(SUITS))
    numbers = tuple(lanes[card // FIGURES] * _LANE + strengths[card] for card in range(CARDS))
    cards = {numbers[card]: card_text(card, deck) for card in range(CARDS)}
    cantes = {lanes[suit]: f"{CANTE} {suit_text(suit, deck)}" for suit in range(SUITS)}
    ties: dict[str, tuple[int, ...]] = {TUTE: (0,), CAMBIO: (2,), PASS: (4,)}
    ties |= {cantes[lane]: (1, lane) for lane in cantes}
    ties |= {cards[numbers[card]]: (3, points[card], strengths[card], card // FIGURES) for card in range(CARDS)}
    texts = (cards, cantes, {0: CAMBIO}, {0: TUTE}, {0: PASS})
    actions = {text: (kind, number) for kind, each in enumerate(texts) for number, text in each.items()}
    return _Lexicon(numbers, lanes, texts, actions, ties, {numbers[card]: places[card] for card in range(CARDS)})


def _lexicon_of(position: GuinotePosition) -> _Lexicon:
    rules = position.rules
    return _lexicon(rules.deck, rules.strengths, rules.values, rules.order, position.trump)


@lru_cache(maxsize=1024)
def pack_rules(rules: Ruleset) -> bytes:
    """A ruleset as the kernel wants it."""
    return kernel.pack_rules(
        players=rules.players,
        beat=("yes", "no", "led_suit").index(rules.beat_in_suit),
        partner_exempt=rules.partner_exempt,
        undertrump_forced=rules.undertrump == "forced",
        strict=("no", "yes", "never").index(rules.strict_from_start),
        cantes=rules.cantes,
        cante_by_winner=rules.cante_by == "winner",
        cante_per_member=rules.cantes_per_trick == "member",
        cante_after_lead=rules.cante_window == "rival_play",
        exchange_when=("any_trick_won", "last_trick_won", "on_lead", "own_turn").index(rules.exchange_when),
        exchange_two=rules.exchange_two,
        exchange_after=rules.exchange_after_last_draw_trick,
        malas_minimum=rules.malas_minimum,
        malas_with_last=rules.malas_counts_last_trick,
        malas_loses=rules.malas_failure == "lose",
        both_over_higher=rules.both_over == "higher_score",
        vueltas=("at_once", "won_trick", "end_of_deal").index(rules.vueltas),
        claim=rules.claim == "at_risk",
        tute={"none": 0, "wins": 2}.get(str(rules.tute), 1),
        capote={"none": 0, "wins": 2}.get(str(rules.capote), 1),
        last_trick=rules.last_trick,
        target=rules.target,
    )


def pack(position: GuinotePosition, lexicon: _Lexicon | None = None, rules: bytes | None = None) -> bytes:
    """The position as the kernel wants it; whoever packs many hands in what they have in common."""
    lexicon = lexicon or _lexicon_of(position)
    played, leading = position.played, position.leader & 1
    unsung, singers = _ALL_SUITS, 0
    for each in position.sung:
        unsung &= ~(1 << lexicon.lanes[each.suit])
        if each.trick == played and each.seat & 1 == leading:
            singers |= 1 << each.seat
    tricks = position.tricks
    won = 1 << leading if played else 0
    if played and tricks is not None and tricks[1 - leading]:
        won = 0b11
    capote = 0 if tricks is None else (tricks[1] == 0) | (tricks[0] == 0) << 1
    return kernel.pack(
        rules or pack_rules(position.rules),
        lexicon.numbers,
        position.hands,
        position.stock,
        position.trick,
        position.leader,
        _MOMENTS.get(position.moment, 0),
        unsung,
        singers,
        position.exchanged,
        position.tute is not None,
        position.vueltas,
        played > 0,
        won,
        capote,
        position.points,
        position.card_points,
        position.carried,
    )


class _Found(Values):
    """A position's place among a kernel's results."""

    __slots__ = ("_index", "_lexicon", "_results", "lower", "nodes", "seconds", "upper")

    def __init__(self, results: kernel.Results, index: int, lexicon: _Lexicon) -> None:
        self._results = results
        self._index = index
        self._lexicon = lexicon
        self.lower, self.upper, self.nodes, self.seconds = results.summary(index)

    @property
    def actions(self) -> tuple[ActionValue, ...]:
        texts, places = self._lexicon.texts, self._lexicon.places
        found = self._results.actions(self._index)
        found.sort(key=lambda each: (each[0], places[each[1]] if each[0] == _CARD else each[1], each[2]))
        return tuple(
            ActionValue(Action(texts[kind][number], seat), lower, upper) for kind, number, seat, lower, upper in found
        )


class GuinoteFamily(Game):
    """Guiñote in all its rule sheets."""

    name = "guinote"
    rulesets = tuple(RULESETS)
    objectives = (POINTS, GAME)

    def position(self, raw: notation.Raw) -> GuinotePosition:
        return read_position(raw)

    def context(self, memory_mb: int) -> NativeContext:
        return _Native(memory_mb)

    def obstacles(self, position: Position, objective: str) -> tuple[Fault, ...]:
        assert isinstance(position, GuinotePosition)
        faults = [
            Fault(f"hands[{seat}].hidden", "HIDDEN_CARDS", "exact values need every card to be known")
            for seat, hidden in enumerate(position.hidden)
            if hidden
        ]
        if UNKNOWN in position.stock:
            faults.append(Fault("stock", "HIDDEN_CARDS", "exact values need every card of the stock to be known"))
        if position.finished():
            faults.append(Fault("hands", "DEAL_OVER", "no cards are left to play"))
        elif objective == GAME and (over := _game_over(position)):
            faults.append(Fault(over[0], "GAME_OVER", f"the game is over: {over[1]}"))
        return tuple(faults)

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
        assert isinstance(context, _Native)
        mine = [position for position in positions if isinstance(position, GuinotePosition)]
        assert len(mine) == len(positions)
        # Positions of one batch mostly share their rules: these are looked up once for each object and trump.
        common: dict[tuple[int, int], tuple[_Lexicon, bytes]] = {}
        shared: list[tuple[_Lexicon, bytes]] = []
        for position in mine:
            key = id(position.rules), position.trump
            if key not in common:
                common[key] = _lexicon_of(position), pack_rules(position.rules)
            shared.append(common[key])
        results = kernel.solve_batch(
            [pack(position, *each) for position, each in zip(mine, shared, strict=True)],
            context.kernel,
            _OBJECTIVES[objective],
            _WANTS[want],
            DEFAULT_NODES if limits.nodes is None else limits.nodes,
            limits.seconds or 0.0,
            fresh,
            *(() if limits.at_least is None else (limits.at_least,)),
        )
        return [_Found(results, index, lexicon) for index, (lexicon, _) in enumerate(shared)]

    def knowledge(self, position: Position, seat: int) -> Knowledge:
        assert isinstance(position, GuinotePosition)
        return knowledge.knowledge(position, seat)

    def knowledge_at(self, deal: Deal, at: Address, seat: int | None) -> Knowledge:
        return knowledge.knowledge_at(deal, at, seat)

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
        return _world_values(knowledge, worlds, actions, view, objective, limits, context, None, complete)

    def world_parts(
        self,
        knowledge: Knowledge,
        worlds: NDArray[np.uint8],
        actions: Sequence[Action],
        *,
        view: View,
        limits: Limits,
        context: NativeContext,
    ) -> tuple[Part, ...]:
        """Declarations and tricks; nothing in the last two tricks, where worlds have no values of their own."""
        position = knowledge.position
        assert isinstance(position, GuinotePosition)
        if view == "informed" and _is_ending(position):
            return ()
        detail = np.zeros((len(worlds), len(actions), 6), np.int16)
        values = _world_values(knowledge, worlds, actions, view, POINTS, limits, context, detail, False)
        looked_at = detail[~np.isnan(values).any(axis=1)]
        gains = (looked_at[:, :, 0::2] - looked_at[:, :, 1::2]).astype(np.float64)
        return tuple(Part(names, gains[:, :, index]) for index, names in enumerate(_PARTS))

    def revealed(self, position: Position, seat: int, *, stock: bool) -> Knowledge:
        assert isinstance(position, GuinotePosition)
        return knowledge.revealed(position, seat, stock=stock)

    def within(self, position: Position, nodes: int) -> bool:
        assert isinstance(position, GuinotePosition)
        tricks = position.rules.hand_size + len(position.stock) // position.players
        return tricks <= _seen_through(position, "clairvoyant", Limits(nodes))

    def average(self, position: Position) -> float:
        assert isinstance(position, GuinotePosition)
        margin = _average(position.rules)
        return -margin if position.leader & 1 else margin

    def policy(self, position: Position, seat: int) -> Action:
        assert isinstance(position, GuinotePosition)
        kind, number, actor = playout.policy(pack(_completed(position)), seat)
        return Action(_lexicon_of(position).texts[kind][number], actor)

    def tie_key(self, position: Position, action: Action) -> tuple[int, ...]:
        assert isinstance(position, GuinotePosition)
        return (*_lexicon_of(position).ties[action.action], action.seat)

    def unseen_key(self, position: Position, card: str) -> tuple[int, ...]:
        assert isinstance(position, GuinotePosition)
        _, points, strength, suit = _lexicon_of(position).ties[card]
        return (suit != position.trump, -points, -strength, suit)

    def beyond(self, position: Position, objective: str) -> Beyond | None:
        assert isinstance(position, GuinotePosition)
        return row_for(position.rules) if objective == GAME else None

    def outcome(self, position: Position, objective: str, value: int, end: Callable[[], Position]) -> str | None:
        assert isinstance(position, GuinotePosition)
        if objective != GAME:
            return None
        if value:
            return WIN if value > 0 else LOSE
        if position.rules.both_over != "higher_score":
            return VUELTAS
        last = end()
        assert isinstance(last, GuinotePosition)
        return REPLAY if all(_reached(last, side) for side in range(2)) else VUELTAS

    def trick_won(self, before: Position, after: Position) -> tuple[int, int] | None:
        assert isinstance(before, GuinotePosition) and isinstance(after, GuinotePosition)
        if len(before.trick) + 1 != before.players or after.trick:
            return None
        side = after.leader & 1
        return after.leader, after.card_points[side] - before.card_points[side]

    def describe(self, position: Position, lang: str) -> Diagram:
        assert isinstance(position, GuinotePosition)
        return describe.diagram(position, lang)

    def face(self, position: Position, action: Action, lang: str) -> Face:
        assert isinstance(position, GuinotePosition)
        return describe.action_face(position, action, lang)

    def rules(self, name: str, overrides: Mapping[str, Any], players: int, lang: str) -> tuple[RuleRow, ...]:
        return describe.rule_rows(name, overrides, players, lang)

    def replay(self, raw: notation.Raw, previous: Deal | None) -> Deal:
        return replay.replay(raw, previous)

    def readings(self, raw: notation.Raw) -> Iterator[notation.Raw]:
        return replay.readings(raw)

    def score(self, deals: Sequence[Deal]) -> Score:
        mine = [deal for deal in deals if isinstance(deal, replay.GuinoteDeal)]
        assert len(mine) == len(deals)
        rows = tuple(
            scoring.DealScore(deal.number, deal.rules, deal.start, deal.result, deal.standing) for deal in mine
        )
        return describe.RecordScore(rows)


def _world_values(
    knowledge: Knowledge,
    worlds: NDArray[np.uint8],
    actions: Sequence[Action],
    view: View,
    objective: str,
    limits: Limits,
    context: NativeContext,
    detail: NDArray[np.int16] | None,
    complete: bool,
) -> NDArray[np.float64]:
    position = knowledge.position
    assert isinstance(position, GuinotePosition) and isinstance(context, _Native)
    lexicon = _lexicon_of(position)
    numbers, targets = _gaps(knowledge, lexicon)
    moves = [lexicon.actions[each.action] for each in actions]
    equity = vueltas_equity(position.rules)
    if complete and view == "informed" and detail is None and _is_ending(position):
        return vector.vector_values(
            pack(position),
            numbers,
            targets,
            np.ascontiguousarray(worlds),
            moves,
            knowledge.seat,
            _OBJECTIVES[objective],
            context.kernel,
            equity,
        )
    values = np.empty((len(worlds), len(actions)))
    playout.world_values(
        pack(position),
        numbers,
        targets,
        np.ascontiguousarray(worlds),
        [(*move, each.seat) for move, each in zip(moves, actions, strict=True)],
        knowledge.seat,
        _VIEWS[view],
        _seen_through(position, view, limits),
        _OBJECTIVES[objective],
        equity,
        context.kernel,
        limits.seconds or 0.0,
        values,
        detail,
    )
    return values


def _gaps(knowledge: Knowledge, lexicon: _Lexicon) -> tuple[bytes, bytes]:
    """The unseen cards and the places where they may be, in the kernel's numbers."""
    numbers = [
        _UNSEEN if played else lexicon.actions[item][1]
        for item, played in zip(knowledge.items, knowledge.played, strict=True)
    ]
    aims = {"hand": 0, "stock": _LANE, "out": _UNSEEN}
    return bytes(numbers), bytes(
        aims[each.kind] + (each.seat if each.kind == "hand" else each.index) for each in knowledge.places
    )


def ismcts(knowledge: Knowledge, rounds: int, seed: int, *, style: int = 2, exploration: float = 0.5) -> Action:
    """The card that an information-set tree search plays for the seat to act: a yardstick for ``best``.

    ``style`` is how it plays deals out: 0 by the policy, 1 greedily, 2 at random.
    """
    position = knowledge.position
    assert isinstance(position, GuinotePosition)
    lexicon = _lexicon_of(position)
    counted = Worlds(knowledge.allowed, [place.capacity for place in knowledge.places])
    found = tree.ismcts(
        pack(position),
        *_gaps(knowledge, lexicon),
        counted.sample(seed, 0, rounds),
        style,
        exploration,
        seed,
        kernel.Context(1),
    )
    return Action(lexicon.texts[_CARD][found[0][0]], knowledge.seat)


@lru_cache(maxsize=64)
def _average(rules: Ruleset) -> float:
    """The mean margin of the side that leads first, over deals by chance, always the same ones, that the policy plays
    to the arrastre."""
    size, players = rules.hand_size, rules.players
    chance = np.random.Generator(np.random.PCG64(0))
    setups = []
    for _ in range(_AVERAGED):
        cards = chance.permutation(CARDS).tolist()
        hands = tuple([tuple(cards[seat * size : (seat + 1) * size]) for seat in range(players)])
        stock = tuple(cards[players * size : players * size + rules.stock_size])
        trump = cards[players * size + len(stock) - 1] // FIGURES
        setups.append(pack(GuinotePosition.dealt(rules, trump, hands, stock)))
    out = np.empty((len(setups), 7), np.int16)
    playout.play_out(setups, (0, 0), 0, 0, kernel.Context(1), out)
    return float((out[:, 0] - out[:, 1]).mean())


def _is_ending(position: GuinotePosition) -> bool:
    """Whether what is left is the last two tricks of four players, for which there is a search over all worlds.

    It wants the same cards left in every world.
    """
    return (
        position.players == _VECTOR_PLAYERS
        and not position.rules.undealt
        and not position.stock
        and position.moment in (LEAD, PLAY)
        and position.rules.total_tricks - position.played <= _VECTOR_TRICKS
    )


def _completed(position: GuinotePosition) -> GuinotePosition:
    """A position with every card known: those that are not are put anywhere."""
    if position.fully_known:
        return position
    seen = {card for cards in (*position.hands, position.stock, position.trick, position.gone) for card in cards}
    unseen = iter([card for card in range(CARDS) if card not in seen])
    hands = tuple(
        (*hand, *islice(unseen, hidden)) for hand, hidden in zip(position.hands, position.hidden, strict=True)
    )
    stock = tuple(next(unseen) if card == UNKNOWN else card for card in position.stock)
    return replace(position, hands=hands, hidden=(0,) * position.players, stock=stock)


def _seen_through(position: GuinotePosition, view: View, limits: Limits) -> int:
    """The number of tricks left from which on all cards are seen in a world: under ``clairvoyant`` as many as exact
    search can look through within a limit; under ``informed`` as many as were found to make the better player."""
    if view == "informed":
        hand = position.rules.hand_size
        return min(hand, _INFORMED_TRICKS[position.players]) if position.stock else hand
    budget = _WORLD_NODES if limits.nodes is None else limits.nodes
    nominal = _NOMINAL_NODES[position.players]
    draws = max((draws for draws, nodes in enumerate(nominal) if nodes <= budget), default=0)
    return position.rules.hand_size + draws


def _total(position: GuinotePosition, side: int) -> int:
    return position.carried[side] + position.points[side]


def _reached(position: GuinotePosition, side: int) -> bool:
    """Whether a side has what it takes to win: the target and, in a first deal, the minimum from cards."""
    rules = position.rules
    minimum = 0 if position.vueltas else rules.malas_minimum
    cards = position.card_points[side]
    if position.finished() and side == position.leader & 1 and not rules.malas_counts_last_trick:
        cards -= rules.last_trick
    return _total(position, side) >= rules.target and cards >= minimum


def _game_over(position: GuinotePosition) -> tuple[str, str] | None:
    """Why nothing that is still to be played can decide the game, and the field that tells; or ``None``."""
    rules, target = position.rules, position.rules.target
    if position.tute is not None and rules.tute == "wins":
        return "tute", "a tute has been declared"
    for side in range(2):
        if position.vueltas and position.carried[side] >= target:
            return "carried", f"side {side} brought {position.carried[side]} points into the deal"
    at_once = rules.claim == "at_risk" or (position.vueltas and rules.vueltas == "at_once")
    if at_once:
        for side in range(2):
            if _reached(position, side):
                return "points", f"side {side} has {_total(position, side)} points"
    elif position.vueltas and rules.vueltas == "won_trick":
        # What a side declared in its latest window may have come after the last trick that it won; all else it had when
        # it won that one. For the leader's side the window is the present one.
        for side in range(2):
            declared = [
                (each.trick, rules.cante_points(each.suit, position.trump))
                for each in position.sung
                if each.seat & 1 == side
            ]
            tute = position.tute
            if tute is not None and tute.seat & 1 == side and isinstance(rules.tute, int):
                declared.append((tute.trick, rules.tute))
            own_lead = side == position.leader & 1
            latest = position.played if own_lead else max((trick for trick, _ in declared), default=0)
            late = sum(points for trick, points in declared if trick == latest)
            if _total(position, side) - late >= target:
                return "points", f"side {side} has won a trick with {_total(position, side) - late} points"
    return None


FAMILY: Final = GuinoteFamily()
GuinotePosition.game = FAMILY
replay.GuinoteDeal.game = FAMILY
