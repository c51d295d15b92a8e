"""A slow, obvious Guiñote: every rule written down once more, and every line of play looked at.

Nothing is imported from ``arrastre``; what the two agree on, they agree on independently. The input is the JSON form
of a position (a dict in its canonical spelling: camelCase names, ``7O`` or ``7D`` for cards), taken to be valid, with
every card known. The answer holds the exact value of every legal action, seen from the side whose turn it is:

* ``points``: the final margin of the deal, points already made included. All tricks are played; a claim, and a tute or
  a capote that ``wins``, do not exist.
* ``game``: 1 if the side wins the game, −1 if it loses it, 0 if the deal ends with nobody through or must be replayed.

A card's value supposes that its side declares nothing before it; under ``cante_window`` ``rival_play`` the side may
still sing, or declare a tute, between its own lead and the rival's card. The solver is plain minimax: no bounds, no
heuristics, and no belief that declaring can never hurt. Positions at the start of a trick are remembered.

How a deal runs here (RULES.md, "Between two tricks"). A state is at one of these *moments*:

``lead``
    The side of the leader may sing, exchange and declare a tute; the leader's card ends the moment.
``after_lead``
    Only under ``rival_play``, and only inside the tree: what is left of the window while the rival has not played. (A
    position that is handed in with one card on the table counts as past it.)
``play``
    The next seat plays a card; under ``own_turn`` it may exchange first.
``before_draw_rivals``, ``before_draw``
    The trick is scored, the last cards are not drawn yet: first the rivals may exchange, then the winner's side.
``rivals``
    The cards are drawn: the rivals of the leader may exchange.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

Objective = Literal["points", "game"]
Pair = tuple[int, int]

SUITS = "OCEB"
FRENCH_SUITS = "DHSC"  # diamonds stand for oros, hearts for copas, spades for espadas, clubs for bastos
FIGURES = "1234567SCR"
FRENCH_FIGURES = "A234567JQK"
DECK_SIZE = 40

# ---------------------------------------------------------------------------------------------------------------------
# The named rulesets

_ARAGONES: dict[str, Any] = {
    "deck": "spanish",
    "figure_under_rey": "sota",
    "target": 101,
    "last_trick": 10,
    "beat_in_suit": "yes",
    "partner_exempt": "yes",
    "undertrump": "free",
    "strict_from_start": "no",
    "cante_by": "side",
    "cantes_per_trick": "side",
    "cante_window": "own_lead",
    "exchange_when": "any_trick_won",
    "exchange_two": "yes",
    "exchange_after_last_draw_trick": "yes",
    "malas_minimum": 30,
    "malas_counts_last_trick": "yes",
    "malas_failure": "not_reached",
    "both_over": "last_trick",
    "vueltas": "at_once",
    "claim": "none",
    "tute": "wins",
    "capote": "none",
    "games_per_coto": 3,
    "next_dealer": "rotate",
    # what the cousins of the game need beyond the table
    "hand_size": 6,
    "draw": "yes",
    "cantes": "yes",
}
_GAMERULES = _ARAGONES | {
    "deck": "french",
    "figure_under_rey": "caballo",
    "cantes_per_trick": "member",
    "exchange_when": "on_lead",
    "exchange_two": "no",
    "exchange_after_last_draw_trick": "no",
    "malas_minimum": 0,
    "vueltas": "end_of_deal",
    "claim": "at_risk",
    "tute": "none",
    "games_per_coto": 1,
}
_CIEN = _ARAGONES | {
    "figure_under_rey": "caballo",
    "target": 100,
    "beat_in_suit": "led_suit",
    "partner_exempt": "no",
    "undertrump": "forced",
    "cante_by": "winner",
    "cantes_per_trick": "member",
    "exchange_when": "own_turn",
    "exchange_two": "no",
    "exchange_after_last_draw_trick": "no",
    "malas_minimum": 0,
    "both_over": "higher_score",
    "vueltas": "end_of_deal",
    "tute": "none",
    "capote": 100,
    "games_per_coto": 2,
}
_TORNEO = _ARAGONES | {
    "partner_exempt": "no",
    "cantes_per_trick": "member",
    "cante_window": "rival_play",
    "exchange_when": "last_trick_won",
    "malas_counts_last_trick": "no",
    "malas_failure": "lose",
    "vueltas": "won_trick",
    "next_dealer": "last_trick",
}
RULESETS: dict[str, dict[str, Any]] = {
    "aragones": _ARAGONES,
    "gamerules": _GAMERULES,
    "cien": _CIEN,
    "torneo": _TORNEO,
    "riojano": _CIEN | {"tute": 40},
    "temprano": _CIEN | {"strict_from_start": "yes"},
}


def rules_of(position: Mapping[str, Any]) -> dict[str, Any]:
    """The rules in force: the named row with the position's overrides, every value spelled as in RULES.md."""
    rules = dict(RULESETS[position.get("ruleset", "aragones")])
    for field, value in position.get("rules", {}).items():
        if isinstance(value, bool):
            value = "yes" if value else "no"
        elif isinstance(value, str) and value.isdigit():
            value = int(value)
        rules[field] = value
    return rules


# ---------------------------------------------------------------------------------------------------------------------
# Cards: suit * 10 + figure


def parse_card(text: str, deck: str = "spanish") -> int:
    """The number of a card in its canonical spelling."""
    figures, suits = (FRENCH_FIGURES, FRENCH_SUITS) if deck == "french" else (FIGURES, SUITS)
    return suits.index(text[1]) * 10 + figures.index(text[0])


def card_name(card: int, deck: str = "spanish") -> str:
    """The canonical spelling of a card."""
    figures, suits = (FRENCH_FIGURES, FRENCH_SUITS) if deck == "french" else (FIGURES, SUITS)
    return figures[card % 10] + suits[card // 10]


def suit_name(suit: int, deck: str = "spanish") -> str:
    """The canonical spelling of a suit."""
    return (FRENCH_SUITS if deck == "french" else SUITS)[suit]


# ---------------------------------------------------------------------------------------------------------------------
# States


class State(NamedTuple):
    """Everything about a deal that what may still happen depends on, except the score."""

    hands: tuple[tuple[int, ...], ...]
    stock: tuple[int, ...]  # top first, muestra last
    leader: int
    trick: tuple[int, ...]
    moment: str
    took: tuple[bool, bool]  # whether each side has won a trick of this deal
    sung: tuple[int, ...]  # suits, sorted
    singers: tuple[int, ...]  # who has sung since the last trick, once for every cante
    exchanged: bool
    tute: bool


class Score(NamedTuple):
    """Points of this deal by side, and those of them that come from cards and the last trick."""

    points: Pair
    cards: Pair

    def plus(self, gain: Gain) -> Score:
        return Score(_add(self.points, gain.side, gain.points), _add(self.cards, gain.side, gain.cards))


class Move(NamedTuple):
    """An action: ``what`` is ``card``, ``cante``, ``cambio``, ``tute`` or ``pass``; ``which`` the card or the suit."""

    what: str
    seat: int
    which: int = -1


class Gain(NamedTuple):
    """What an action brought: points for one side, of which ``cards`` from cards and the last trick.

    ``what`` is ``trick``, ``last`` (the last trick of the deal), ``cante``, ``tute``, or empty.
    """

    what: str = ""
    side: int = 0
    points: int = 0
    cards: int = 0
    capote: bool = False


class GameOverError(Exception):
    """The game of this position has been decided already."""


class NothingToPlayError(Exception):
    """No card is left."""


@dataclass(frozen=True)
class Answer:
    """``actions`` maps (action, seat) to its value; ``best`` lists those of the highest value, the preferred first.

    ``outcome`` is the word for the value under ``game``; where that is 0, best play with the preferred action at every
    step tells a replay from a deal in which nobody got through.
    """

    seat: int
    side: int
    value: int
    actions: dict[tuple[str, int], int]
    best: list[tuple[str, int]]
    outcome: str | None


class Deal:
    """One deal under one set of rules: what never changes while it is played, and the rules themselves."""

    def __init__(self, position: Mapping[str, Any]) -> None:
        rules = self.rules = rules_of(position)
        self.players: int = position.get("players", 4)
        self.deck: str = rules["deck"]
        self.trump = (FRENCH_SUITS if self.deck == "french" else SUITS).index(position["trump"])
        self.vueltas: bool = position.get("vueltas", False)
        self.carried = _pair(position.get("carried", (0, 0)))

        under = 7 if rules["figure_under_rey"] == "sota" else 8  # figure numbers: 7 sota, 8 caballo, 9 rey
        other = 15 - under
        order = [1, 3, 4, 5, 6, other, under, 9, 2, 0]  # weakest first: 2 4 5 6 7, the figures, rey, tres, as
        worth = {0: 11, 2: 10, 9: 4, under: 3, other: 2}
        self.under = under
        self.rank = [order.index(card % 10) for card in range(DECK_SIZE)]
        self.worth = [worth.get(card % 10, 0) for card in range(DECK_SIZE)]

    # -- who is who

    def seats_of(self, side: int) -> list[int]:
        return [seat for seat in range(self.players) if seat % 2 == side]

    def partner_of(self, seat: int) -> int | None:
        return (seat + 2) % 4 if self.players == 4 else None

    def turn(self, state: State) -> int:
        """The seat to act; where a side may only declare, its lower seat."""
        if state.moment == "lead":
            return state.leader
        if state.moment == "play":
            return (state.leader + len(state.trick)) % self.players
        side = state.leader % 2
        return 1 - side if state.moment in ("rivals", "before_draw_rivals") else side

    # -- cards

    def beats(self, card: int, winning: int) -> bool:
        """Whether ``card``, played later, takes the trick from ``winning``."""
        if card // 10 == winning // 10:
            return self.rank[card] > self.rank[winning]
        return card // 10 == self.trump

    def winner(self, trick: Sequence[int]) -> int:
        """The place in the trick of its winning card."""
        best = 0
        for place, card in enumerate(trick):
            if self.beats(card, trick[best]):
                best = place
        return best

    def legal_cards(self, state: State) -> list[int]:
        """What the seat whose turn it is may play."""
        seat = self.turn(state)
        hand = list(state.hands[seat])
        trick = state.trick
        strictness = self.rules["strict_from_start"]
        strict = strictness == "yes" or (strictness == "no" and not state.stock)
        if not trick or not strict:
            return hand

        led = trick[0] // 10
        place = self.winner(trick)
        winning = trick[place]
        trumped = winning // 10 == self.trump and led != self.trump
        exempt = (
            self.rules["partner_exempt"] == "yes"
            and self.players == 4
            and (state.leader + place) % self.players == self.partner_of(seat)
        )

        following = [card for card in hand if card // 10 == led]
        if following:
            if exempt or self.rules["beat_in_suit"] == "no":
                return following
            if self.rules["beat_in_suit"] == "led_suit":
                to_beat = max((card for card in trick if card // 10 == led), key=lambda card: self.rank[card])
            elif trumped:
                return following
            else:
                to_beat = winning
            return [card for card in following if self.rank[card] > self.rank[to_beat]] or following

        trumps = [card for card in hand if card // 10 == self.trump]
        if exempt or not trumps:
            return hand
        if not trumped:
            return trumps
        over = [card for card in trumps if self.rank[card] > self.rank[winning]]
        if over:
            return over
        return trumps if self.rules["undertrump"] == "forced" else hand

    # -- declarations

    def can_sing(self, state: State) -> list[Move]:
        """The cantes of the leader's side, whose window is open."""
        if self.rules["cantes"] == "no" or not any(state.took):
            return []
        side = state.leader % 2
        if self.rules["cantes_per_trick"] == "side" and state.singers:
            return []
        seats = [state.leader] if self.rules["cante_by"] == "winner" else self.seats_of(side)
        found = []
        for seat in seats:
            if seat in state.singers:
                continue
            for suit in range(4):
                rey, mate = suit * 10 + 9, suit * 10 + self.under
                if suit not in state.sung and rey in state.hands[seat] and mate in state.hands[seat]:
                    found.append(Move("cante", seat, suit))
        return found

    def can_declare_tute(self, state: State) -> list[Move]:
        """The tutes of the leader's side, whose window is open. One that scores 40 is of reyes only."""
        if self.rules["tute"] == "none" or state.tute or not any(state.took):
            return []
        figures = [9, self.under] if self.rules["tute"] == "wins" else [9]
        return [
            Move("tute", seat)
            for seat in self.seats_of(state.leader % 2)
            if any(all(suit * 10 + figure in state.hands[seat] for suit in range(4)) for figure in figures)
        ]

    def can_exchange(self, state: State) -> list[Move]:
        """The exchanges open to the side (or the seat) whose turn it is."""
        if not state.stock or state.exchanged:
            return []
        muestra = state.stock[-1]
        two, seven = self.trump * 10 + 1, self.trump * 10 + 6
        if muestra == seven:
            if self.rules["exchange_two"] == "no":
                return []
            wanted = two
        else:
            wanted = seven

        winners = self.seats_of(state.leader % 2)
        rivals = self.seats_of(1 - state.leader % 2)
        between_tricks = {
            "before_draw_rivals": rivals,
            "before_draw": winners,
            "rivals": rivals,
            "lead": winners,
        }.get(state.moment, [])
        when = self.rules["exchange_when"]
        if when == "any_trick_won":
            seats = [seat for seat in between_tricks if state.took[seat % 2]]
        elif when == "last_trick_won":
            seats = [seat for seat in between_tricks if seat in winners and any(state.took)]
        elif when == "on_lead":
            seats = [seat for seat in between_tricks if seat == state.leader]
        else:  # own_turn: whoever is about to play a card
            seats = [self.turn(state)] if state.moment in ("lead", "play") else []
        return [Move("cambio", seat) for seat in seats if wanted in state.hands[seat]]

    def moves(self, state: State) -> list[Move]:
        """Everything that the side whose turn it is may do now."""
        found = []
        if state.moment in ("lead", "play"):
            found += [Move("card", self.turn(state), card) for card in self.legal_cards(state)]
        if state.moment in ("lead", "after_lead"):
            found += self.can_sing(state) + self.can_declare_tute(state)
        if state.moment != "after_lead":
            found += self.can_exchange(state)
        if state.moment not in ("lead", "play"):
            found.append(Move("pass", self.turn(state)))
        return found

    # -- what an action leads to

    def apply(self, state: State, move: Move) -> tuple[State, Gain]:
        if move.what == "card":
            return self._play(state, move.seat, move.which)
        if move.what == "cante":
            after = state._replace(
                sung=tuple(sorted((*state.sung, move.which))), singers=tuple(sorted((*state.singers, move.seat)))
            )
            return after, Gain("cante", move.seat % 2, 40 if move.which == self.trump else 20)
        if move.what == "tute":
            return state._replace(tute=True), Gain("tute", move.seat % 2, 40 if self.rules["tute"] == 40 else 0)
        if move.what == "cambio":
            return self._exchange(state, move.seat), Gain()
        return self._pass(state), Gain()

    def _exchange(self, state: State, seat: int) -> State:
        muestra = state.stock[-1]
        seven = self.trump * 10 + 6
        given = self.trump * 10 + 1 if muestra == seven else seven
        hands = list(state.hands)
        hands[seat] = tuple(sorted(card for card in (*hands[seat], muestra) if card != given))
        return state._replace(hands=tuple(hands), stock=(*state.stock[:-1], given), exchanged=True)

    def _pass(self, state: State) -> State:
        if state.moment == "before_draw_rivals":
            return state._replace(moment="before_draw")
        if state.moment == "before_draw":
            return self._draw(state)
        if state.moment == "rivals":
            return state._replace(moment="lead")
        return state._replace(moment="play")  # after_lead

    def _draw(self, state: State) -> State:
        hands = list(state.hands)
        for place in range(self.players):
            seat = (state.leader + place) % self.players
            hands[seat] = tuple(sorted((*hands[seat], state.stock[place])))
        stock = state.stock[self.players :]
        # without a muestra the rivals have nothing to exchange for
        return state._replace(hands=tuple(hands), stock=stock, moment="rivals" if stock else "lead")

    def _play(self, state: State, seat: int, card: int) -> tuple[State, Gain]:
        hands = list(state.hands)
        hands[seat] = tuple(other for other in hands[seat] if other != card)
        after = state._replace(hands=tuple(hands), trick=(*state.trick, card), moment="play")
        if len(after.trick) == self.players:
            return self._close_trick(after)
        if len(after.trick) == 1 and self.rules["cante_window"] == "rival_play":
            still_open = after._replace(moment="after_lead")
            if self.can_sing(still_open) or self.can_declare_tute(still_open):
                return still_open, Gain()
        return after, Gain()

    def _close_trick(self, state: State) -> tuple[State, Gain]:
        winner = (state.leader + self.winner(state.trick)) % self.players
        side = winner % 2
        cards = sum(self.worth[card] for card in state.trick)
        took = (True, state.took[1]) if side == 0 else (state.took[0], True)
        after = state._replace(leader=winner, trick=(), moment="lead", took=took, singers=())
        if not any(after.hands) and not after.stock:
            cards += self.rules["last_trick"]
            capote = not took[1 - side]
            points = cards + (100 if capote and self.rules["capote"] == 100 else 0)
            return after, Gain("last", side, points, cards, capote)
        if after.stock:
            last_draw = len(after.stock) == self.players
            if last_draw and self.rules["exchange_after_last_draw_trick"] == "yes":
                after = after._replace(moment="before_draw_rivals")
            else:
                after = self._draw(after)
        return after, Gain("trick", side, cards, cards)

    # -- how a game ends. A result is seen from side 0: 1, 0 or −1.

    def totals(self, score: Score) -> Pair:
        return self.carried[0] + score.points[0], self.carried[1] + score.points[1]

    def below_minimum(self, score: Score, side: int, last_trick_winner: int | None) -> bool:
        """Whether the side lacks the points from cards that it needs to win a first deal."""
        if self.vueltas:
            return False
        cards = score.cards[side]
        if side == last_trick_winner and self.rules["malas_counts_last_trick"] == "no":
            cards -= self.rules["last_trick"]
        return bool(cards < self.rules["malas_minimum"])

    def result(self, score: Score, gain: Gain) -> int | None:
        """Who wins the game by what has just been gained; 0 if the deal is over without that; ``None``: play on."""
        if not gain.what:
            return None
        rules = self.rules
        totals = self.totals(score)
        wins = 1 if gain.side == 0 else -1
        last_trick_winner = gain.side if gain.what == "last" else None

        if gain.what == "tute" and rules["tute"] == "wins":
            return wins
        if gain.capote and rules["capote"] == "wins":
            return wins
        if totals[gain.side] >= rules["target"]:
            if rules["claim"] == "at_risk" and not self.below_minimum(score, gain.side, last_trick_winner):
                return wins
            if self.vueltas and rules["vueltas"] == "at_once":
                return wins
            if self.vueltas and rules["vueltas"] == "won_trick" and gain.what in ("trick", "last"):
                return wins
        if last_trick_winner is not None:
            return self.end_of_deal(score, last_trick_winner)
        return None

    def through(self, score: Score, last_trick_winner: int) -> list[bool]:
        """Which sides have what it takes to win when all cards are played."""
        return [
            self.totals(score)[side] >= self.rules["target"] and not self.below_minimum(score, side, last_trick_winner)
            for side in (0, 1)
        ]

    def end_of_deal(self, score: Score, last_trick_winner: int) -> int:
        """Who wins the game when all cards are played."""
        totals = self.totals(score)
        below = [self.below_minimum(score, side, last_trick_winner) for side in (0, 1)]
        if self.rules["malas_failure"] == "lose" and below[0] != below[1]:
            return -1 if below[0] else 1
        over = self.through(score, last_trick_winner)
        if over[0] and over[1]:
            if self.rules["both_over"] == "last_trick":
                return 1 if last_trick_winner == 0 else -1
            return (totals[0] > totals[1]) - (totals[0] < totals[1])
        return over[0] - over[1]

    def over_already(self, state: State, score: Score, position: Mapping[str, Any], played: int) -> bool:
        """Whether the game was decided before this state was reached."""
        rules = self.rules
        totals = self.totals(score)
        reached = [total >= rules["target"] for total in totals]
        if rules["tute"] == "wins" and state.tute:
            return True
        if rules["claim"] == "at_risk" and any(
            reached[side] and not self.below_minimum(score, side, None) for side in (0, 1)
        ):
            return True
        if not self.vueltas:
            return False
        if any(brought >= rules["target"] for brought in self.carried):
            return True
        if rules["vueltas"] == "at_once":
            return any(reached)
        if rules["vueltas"] == "won_trick":
            # Reached by a cante (or a tute of 40) alone, the target does not end the deal before the side wins a
            # trick. What it sang in its latest window may be such a cante; for the leader's side, which has just won
            # a trick, that window is the present one.
            suits = FRENCH_SUITS if self.deck == "french" else SUITS
            tute = position.get("tute")
            for side in (0, 1):
                declared = [
                    (entry["trick"], 40 if suits.index(entry["suit"]) == self.trump else 20)
                    for entry in position.get("sung", ())
                    if entry["seat"] % 2 == side
                ]
                if rules["tute"] == 40 and tute is not None and tute["seat"] % 2 == side:
                    declared.append((tute["trick"], 40))
                latest = played if side == state.leader % 2 else max((trick for trick, _ in declared), default=0)
                late = sum(worth for trick, worth in declared if trick == latest)
                if totals[side] - late >= rules["target"]:
                    return True
        return False

    # -- names

    def name(self, move: Move) -> tuple[str, int]:
        if move.what == "card":
            return card_name(move.which, self.deck), move.seat
        if move.what == "cante":
            return f"cante {suit_name(move.which, self.deck)}", move.seat
        return move.what, move.seat

    def preference(self, move: Move) -> tuple[int, ...]:
        """The smallest of these is *the* answer among moves of equal value."""
        if move.what == "tute":
            return (0, move.seat)
        if move.what == "cante":
            return (1, move.which != self.trump, move.which, move.seat)
        if move.what == "cambio":
            return (2, move.seat)
        if move.what == "card":
            return (3, self.worth[move.which], self.rank[move.which], move.which // 10)
        return (4, move.seat)


class Solver:
    """Looks at every line of play, remembering what the starts of tricks are worth (to side 0)."""

    def __init__(self, deal: Deal, objective: Objective) -> None:
        self.deal = deal
        self.objective = objective
        self.known: dict[Any, int] = {}

    def moves(self, state: State) -> list[Move]:
        moves = self.deal.moves(state)
        if self.objective == "points" and self.deal.rules["tute"] == "wins":
            moves = [move for move in moves if move.what != "tute"]
        return moves

    def value(self, state: State, score: Score) -> int:
        """``points``: the margin still to come; ``game``: the result."""
        key = state if self.objective == "points" else (state, score)
        if not state.trick and key in self.known:
            return self.known[key]
        values = [self.value_of(state, score, move) for move in self.moves(state)]
        value = max(values) if self.deal.turn(state) % 2 == 0 else min(values)
        if not state.trick:
            self.known[key] = value
        return value

    def value_of(self, state: State, score: Score, move: Move) -> int:
        after, gain = self.deal.apply(state, move)
        if self.objective == "points":
            margin = gain.points if gain.side == 0 else -gain.points
            return margin if gain.what == "last" else margin + self.value(after, score)
        score = score.plus(gain)
        result = self.deal.result(score, gain)
        return self.value(after, score) if result is None else result

    def preferred(self, state: State, score: Score) -> Move:
        """The first of the best moves of the side whose turn it is."""
        value = self.value(state, score)
        best = [move for move in self.moves(state) if self.value_of(state, score, move) == value]
        return min(best, key=self.deal.preference)

    def outcome(self, state: State, score: Score, value: int) -> str:
        """The word for a value seen from the side whose turn it is."""
        if value:
            return "win" if value > 0 else "lose"
        gain = Gain()
        while gain.what != "last":
            state, gain = self.deal.apply(state, self.preferred(state, score))
            score = score.plus(gain)
        return "replay" if all(self.deal.through(score, gain.side)) else "vueltas"


def _pair(values: Sequence[int]) -> Pair:
    return values[0], values[1]


def _add(pair: Pair, side: int, amount: int) -> Pair:
    return (pair[0] + amount, pair[1]) if side == 0 else (pair[0], pair[1] + amount)


# ---------------------------------------------------------------------------------------------------------------------
# Reading a position, and answering


def read(position: Mapping[str, Any]) -> tuple[Deal, State, Score, int]:
    """The deal, the state, the score and the number of tricks played of a valid position with every card known."""
    deal = Deal(position)
    hands = tuple(tuple(sorted(parse_card(text, deal.deck) for text in hand["cards"])) for hand in position["hands"])
    stock = tuple(parse_card(text, deal.deck) for text in position.get("stock", ()))
    trick = tuple(parse_card(text, deal.deck) for text in position.get("trick", ()))
    leader: int = position.get("leader", 0)
    played = (DECK_SIZE - len(stock) - len(trick) - sum(map(len, hands))) // deal.players
    sung = position.get("sung", ())
    suits = FRENCH_SUITS if deal.deck == "french" else SUITS

    tricks = position.get("tricks")
    if tricks is not None or played == 0:
        took = (tricks[0] > 0, tricks[1] > 0) if tricks is not None else (False, False)
    else:
        took = (leader % 2 == 0, leader % 2 == 1)
        # how the tricks were shared is not known, so that no capote can be counted
        deal.rules["capote"] = "none"

    state = State(
        hands=hands,
        stock=stock,
        leader=leader,
        trick=trick,
        moment=position.get("moment") or ("play" if trick else "lead"),
        took=took,
        sung=tuple(sorted(suits.index(entry["suit"]) for entry in sung)),
        singers=tuple(sorted(e["seat"] for e in sung if e["trick"] == played and e["seat"] % 2 == leader % 2)),
        exchanged=position.get("exchanged", False),
        tute=position.get("tute") is not None,
    )

    points = _pair(position.get("points", (0, 0)))
    if position.get("cardPoints") is not None:
        cards = _pair(position["cardPoints"])
    else:
        cards = points
        for entry in sung:
            worth = 40 if suits.index(entry["suit"]) == deal.trump else 20
            cards = _add(cards, entry["seat"] % 2, -worth)
        if deal.rules["tute"] == 40 and position.get("tute"):
            cards = _add(cards, position["tute"]["seat"] % 2, -40)
        cards = max(0, cards[0]), max(0, cards[1])
    return deal, state, Score(points, cards), played


def legal_actions(position: Mapping[str, Any]) -> set[tuple[str, int]]:
    """Everything that the rules allow the side whose turn it is, as (action, seat)."""
    deal, state, _, _ = read(position)
    return {deal.name(move) for move in deal.moves(state)}


def game_over(position: Mapping[str, Any]) -> bool:
    """Whether the game has been decided already."""
    deal, state, score, played = read(position)
    return deal.over_already(state, score, position, played)


def solve(position: Mapping[str, Any], objective: Objective = "points") -> Answer:
    """The exact value of every legal action. Raises :class:`GameOverError` and :class:`NothingToPlayError`."""
    deal, state, score, played = read(position)
    if not any(state.hands):
        raise NothingToPlayError
    if objective == "game" and deal.over_already(state, score, position, played):
        raise GameOverError
    solver = Solver(deal, objective)
    seat = deal.turn(state)
    sign = 1 if seat % 2 == 0 else -1
    made = score.points[0] - score.points[1] if objective == "points" else 0
    values = {move: sign * (made + solver.value_of(state, score, move)) for move in solver.moves(state)}
    value = max(values.values())
    best = sorted((move for move in values if values[move] == value), key=deal.preference)
    return Answer(
        seat=seat,
        side=seat % 2,
        value=value,
        actions={deal.name(move): worth for move, worth in values.items()},
        best=[deal.name(move) for move in best],
        outcome=solver.outcome(state, score, value) if objective == "game" else None,
    )
