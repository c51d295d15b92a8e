"""From tricks to cotos: what a deal scores, when a game is won and by whom, what is carried over, who deals next.

The same rules live in the kernel, for searching; here they are applied to what has been played. Sides are 0 and 1
throughout, and a pair of numbers is by side.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from arrastre.guinote.rules import Ruleset

Pair = tuple[int, int]
NOTHING: Final[Pair] = (0, 0)

#: What may bring points in the middle of a deal.
TRICK: Final = "trick"
CANTE: Final = "cante"
TUTE: Final = "tute"

#: How a deal ends: somebody wins the game, it goes to vueltas, it must be dealt again, its points are only added up
#: (``deals:N``), or the record stops before the end.
WIN: Final = "win"
VUELTAS: Final = "vueltas"
REPLAY: Final = "replay"
SUMMED: Final = "summed"
UNFINISHED: Final = "unfinished"


# -- malas and buenas ------------------------------------------------------------------------------------------------

#: The first fifty points are malas; from there on buenas are counted, and 51 of them are 101.
MALAS: Final = 50
_SAID: Final = re.compile(r"([0-9]{1,3})(?:\s*(?:(malas|mala|m)|(buenas|buena|b))\b)?", re.IGNORECASE | re.ASCII)
_BETWEEN: Final = re.compile(r"\s*(?:[-–,;:/]|\by\b|\s)\s*")


def say_points(points: int) -> str:
    """Points as players say them: 1 to 50 are malas, then buenas: ``38 malas``, ``12 buenas`` for 62."""
    if points > MALAS:
        return _counted(points - MALAS, "buena")
    return _counted(points, "mala")


def _counted(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def parse_points(text: str) -> int:
    """Points written as a number, or as malas or buenas: ``62``, ``12 buenas``, ``12b``, ``38 malas``.

    Raises ``ValueError``.
    """
    match = _SAID.fullmatch(text.strip())
    if match is None:
        raise ValueError("points are a number, or malas or buenas, as in 62 or 12 buenas")
    number = int(match[1])
    if match[2] and number > MALAS:
        raise ValueError(f"there are {MALAS} malas at the most; more are buenas")
    return number + MALAS if match[3] else number


def parse_score(text: str) -> Pair:
    """The points of both sides, each as :func:`parse_points` reads them: ``62 88``, ``62-88``, ``12b 38b``.

    Raises ``ValueError``.
    """
    first = _SAID.match(text.strip())
    if first is not None:
        rest = text.strip()[first.end() :]
        between = _BETWEEN.match(rest)
        if between is not None and between.end() < len(rest):
            return parse_points(first.group()), parse_points(rest[between.end() :])
    raise ValueError("a score is the points of both sides, as in 62 88 or 12 buenas 38 malas")


# -- one deal --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sources:
    """Where the points of a deal came from, by side."""

    cards: Pair = NOTHING
    last_trick: Pair = NOTHING
    cantes: Pair = NOTHING
    tute: Pair = NOTHING
    capote: Pair = NOTHING

    @property
    def points(self) -> Pair:
        """All of them together."""
        return _sum(self.cards, self.last_trick, self.cantes, self.tute, self.capote)

    def plus(self, source: str, side: int, points: int) -> Sources:
        """With so many more points from one source (a field's name) for one side."""
        gain = (points, 0) if side == 0 else (0, points)
        return replace(self, **{source: _sum(getattr(self, source), gain)})

    def towards_minimum(self, rules: Ruleset) -> Pair:
        """The points that count towards ``malas_minimum``."""
        return _sum(self.cards, self.last_trick) if rules.malas_counts_last_trick else self.cards

    def to_dict(self) -> dict[str, Any]:
        return {
            "cards": list(self.cards),
            "lastTrick": list(self.last_trick),
            "cantes": list(self.cantes),
            "tute": list(self.tute),
            "capote": list(self.capote),
        }


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a deal ended: the outcome, the side that won the game if one did, and what decided it.

    ``reason``: ``target`` (one side reached it), ``last_trick`` or ``higher_score`` (both did), ``malas`` (the other
    fell short of the minimum), ``tute``, ``capote``, ``claim``, ``wrong_claim``, ``carried`` (won before this deal
    began); empty where nobody won.
    """

    outcome: str
    winner: int | None = None
    reason: str = ""


def _won(side: int, reason: str) -> Verdict:
    return Verdict(WIN, side, reason)


def at_start(rules: Ruleset, carried: Pair, vueltas: bool) -> Verdict | None:
    """The verdict on a deal before it starts: a side that carries the target over has won already."""
    if vueltas:
        for side in (0, 1):
            if carried[side] >= rules.target:
                return _won(side, "carried")
    return None


def after_gain(rules: Ruleset, totals: Pair, vueltas: bool, side: int, kind: str) -> Verdict | None:
    """Whether a game ends by what a side has just gained: by a trick, a cante or a tute.

    ``totals`` are what each side has now, what it carried included. ``None``: play on.
    """
    if kind == TUTE and rules.tute == "wins":
        return _won(side, "tute")
    ends_now = rules.vueltas == "at_once" or (rules.vueltas == "won_trick" and kind == TRICK)
    return _won(side, "target") if vueltas and ends_now and totals[side] >= rules.target else None


def at_end(
    rules: Ruleset, totals: Pair, sources: Sources, vueltas: bool, last_side: int, capote: int | None
) -> Verdict:
    """The verdict when all tricks are played.

    ``last_side`` won the last trick, ``capote`` is the side that won all of them, if one did.
    """
    if capote is not None and rules.capote == "wins":
        return _won(capote, "capote")
    below = (False, False)
    if not vueltas:
        cards = sources.towards_minimum(rules)
        below = (cards[0] < rules.malas_minimum, cards[1] < rules.malas_minimum)
    if rules.malas_failure == "lose" and below[0] != below[1]:
        return _won(1 if below[0] else 0, "malas")
    over = [side for side in (0, 1) if totals[side] >= rules.target and not below[side]]
    if len(over) == 1:
        return _won(over[0], "target")
    if not over:
        return Verdict(VUELTAS if fixed_deals(rules) is None else SUMMED)
    if rules.both_over == "last_trick":
        return _won(last_side, "last_trick")
    if totals[0] == totals[1]:
        return Verdict(REPLAY if fixed_deals(rules) is None else SUMMED)
    return _won(0 if totals[0] > totals[1] else 1, "higher_score")


def on_claim(rules: Ruleset, totals: Pair, sources: Sources, vueltas: bool, side: int) -> Verdict:
    """The verdict when a side stops the deal claiming the target: it wins if it has it, and loses if it has not."""
    enough = vueltas or sources.towards_minimum(rules)[side] >= rules.malas_minimum
    if totals[side] >= rules.target and enough:
        return _won(side, "claim")
    return _won(1 - side, "wrong_claim")


@dataclass(frozen=True, slots=True)
class DealResult:
    """What a deal came to.

    ``sources`` are the points made in it, until it was decided; ``carried`` what each side brought in. ``last_winner``
    is the seat that won the last trick played, ``next_dealer`` the seat that deals next.
    """

    sources: Sources
    carried: Pair
    vueltas: bool
    verdict: Verdict
    dealer: int
    last_winner: int | None
    next_dealer: int

    @property
    def points(self) -> Pair:
        """The points of this deal."""
        return self.sources.points

    @property
    def totals(self) -> Pair:
        """The points of this deal and those carried into it."""
        return _sum(self.carried, self.points)

    def to_dict(self) -> dict[str, Any]:
        return {
            "points": list(self.points),
            "sources": self.sources.to_dict(),
            "carried": list(self.carried),
            "totals": list(self.totals),
            "said": [say_points(points) for points in self.totals],
            "vueltas": self.vueltas,
            "outcome": self.verdict.outcome,
            "winner": self.verdict.winner,
            "reason": self.verdict.reason,
            "dealer": self.dealer,
            "lastTrick": self.last_winner,
            "nextDealer": self.next_dealer,
        }


def next_dealer(rules: Ruleset, dealer: int, last_winner: int | None) -> int:
    """Who deals after a deal: the next seat, or whoever won its last trick."""
    if rules.next_dealer == "last_trick" and last_winner is not None:
        return last_winner
    return (dealer + 1) % rules.players


# -- games and cotos -------------------------------------------------------------------------------------------------


def fixed_deals(rules: Ruleset) -> int | None:
    """The number of deals of a coto in which points are added up (``deals:N``), or ``None`` where games count."""
    if isinstance(rules.games_per_coto, str):
        return int(rules.games_per_coto.partition(":")[2])
    return None


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a coto stands between two deals.

    ``coto`` and ``game`` are the numbers of the present ones, or of those that the last deal ended; ``deals`` counts
    the deals of the coto, ``sums`` their points, ``games`` the games won in it. ``carried`` and ``vueltas`` are for the
    next deal of the game. A coto of ``deals:N`` is one game, without anything carried, whose winner is ``None`` if the
    sums are equal. ``known`` is false after a deal that was not played out, or not understood: nobody knows how its
    game went on.
    """

    coto: int = 1
    game: int = 1
    deals: int = 0
    sums: Pair = NOTHING
    games: Pair = NOTHING
    carried: Pair = NOTHING
    vueltas: bool = False
    dealer: int | None = None
    game_over: bool = False
    game_winner: int | None = None
    coto_over: bool = False
    coto_winner: int | None = None
    known: bool = True

    def next_game(self, number: int | None = None) -> Standing:
        """Where the next game begins: in the same coto unless that is over."""
        if self.coto_over:
            return Standing(coto=self.coto + 1, game=number or 1, dealer=self.dealer if self.known else None)
        return replace(
            self,
            game=self.game + 1 if number is None else number,
            carried=NOTHING,
            vueltas=False,
            game_over=False,
            game_winner=None,
            known=True,
        )

    def continues(self, before: Standing) -> bool:
        """Whether a deal that starts here belongs to the game that the deal before it left so."""
        return (self.coto, self.game) == (before.coto, before.game) and not before.game_over

    def next_coto(self, number: int | None = None) -> Standing:
        """Where another coto begins, this one over or not."""
        return Standing(coto=self.coto + 1, game=number or 1)

    def after(self, rules: Ruleset, result: DealResult | None) -> Standing:
        """Where the coto stands after a deal of the present game; ``None`` for a deal that was not understood."""
        if result is None or result.verdict.outcome == UNFINISHED:
            return replace(self, known=False, dealer=None if result is None else result.next_dealer)
        verdict, count = result.verdict, fixed_deals(rules)
        after = replace(
            self,
            deals=self.deals + 1,
            sums=_sum(self.sums, result.points),
            dealer=result.next_dealer,
            known=True,
        )
        if count is not None:
            over = after.deals >= count
            first, second = after.sums
            best = None if first == second or not over else (0 if first > second else 1)
            return replace(after, game_over=over, game_winner=best, coto_over=over, coto_winner=best)
        winner, replayed = verdict.winner, verdict.outcome == REPLAY
        if winner is None and not replayed:
            # What was carried this far may have won the game already, before the next deal.
            start = at_start(rules, result.totals, True)
            winner = None if start is None else start.winner
        if winner is not None:
            games = _sum(self.games, (1, 0) if winner == 0 else (0, 1))
            assert isinstance(rules.games_per_coto, int)
            over = games[winner] >= rules.games_per_coto
            return replace(
                after,
                games=games,
                game_over=True,
                game_winner=winner,
                coto_over=over,
                coto_winner=winner if over else None,
            )
        if not replayed:  # a deal that is replayed starts once more from where it started
            after = replace(after, carried=result.totals, vueltas=True)
        return after


@dataclass(frozen=True, slots=True)
class Header:
    """What a recorded deal says about its place in a game; ``None`` where it says nothing."""

    number: int | None = None
    game: int | None = None
    carried: Pair | None = None
    vueltas: bool | None = None
    same_table: bool = True


@dataclass(frozen=True, slots=True)
class Start:
    """Where a deal begins: the standing before it, what is carried into it, and whether it follows another deal of
    its game. ``faults`` are (field, reason, message)."""

    standing: Standing
    carried: Pair
    vueltas: bool
    follows: bool = False
    faults: tuple[tuple[str, str, str], ...] = ()


def start_deal(before: Standing | None, last_number: int, header: Header) -> Start:
    """Where a deal begins, given where the deal before it in the record, number ``last_number``, left things.

    A deal follows in the same game unless that is over, the ``Game`` numbers differ, the players or the rules do, the
    numbers of the deals start again, or the deal says that nothing was carried. A deal that skips numbers need not fit
    what came before.
    """
    game, carried = header.game, header.carried
    if before is None:
        return _opened(Standing(game=game or 1), header)
    starts_again = header.number is not None and header.number <= last_number
    if starts_again or not header.same_table:
        return _opened(before.next_coto(game), header)
    consecutive = header.number is None or header.number == last_number + 1
    same_game = game is not None and game == before.game
    if before.game_over:
        faults: tuple[tuple[str, str, str], ...] = ()
        if same_game and consecutive and not before.coto_over:
            how = "" if before.game_winner is None else f", won by side {before.game_winner}"
            faults = (("game", "GAME_OVER", f"game {game} was over before this deal{how}"),)
        another_coto = game is not None and game <= before.game and not faults
        begun = before.next_coto(game) if another_coto else before.next_game(game)
        return replace(_opened(begun, header), faults=faults)
    if game is not None and not same_game:
        backwards = game < before.game
        return _opened(before.next_coto(game) if backwards else before.next_game(game), header)
    if not before.known:
        resumed = replace(before.next_game(before.game), dealer=None)
        return _opened(resumed if same_game or carried not in (None, NOTHING) else before.next_game(), header)
    if carried is None or carried == before.carried:
        vueltas = before.vueltas if header.vueltas is None else header.vueltas
        return Start(before, before.carried, vueltas, follows=consecutive)
    if carried == NOTHING and not same_game:
        return _opened(before.next_game(), header)
    if consecutive:
        first, second = before.carried
        message = f"the deal before leaves {first} {second} to be carried, not {carried[0]} {carried[1]}"
        return replace(_opened(before, header), faults=(("carried", "CARRIED_MISMATCH", message),))
    return _opened(before, header)


def _opened(standing: Standing, header: Header) -> Start:
    """A start at which only the deal itself says what has been carried."""
    carried = header.carried or NOTHING
    vueltas = carried != NOTHING if header.vueltas is None else header.vueltas
    return Start(replace(standing, carried=carried, vueltas=vueltas), carried, vueltas)


# -- the score of a record -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DealScore:
    """One deal of a record: its number, where it began, its result (``None`` if it was not understood), and after."""

    number: int
    rules: Ruleset
    start: Standing
    result: DealResult | None
    standing: Standing

    def to_dict(self) -> dict[str, Any]:
        place = {"deal": self.number, "game": self.start.game, "coto": self.start.coto}
        return {**place, "result": None if self.result is None else self.result.to_dict()}


@dataclass(slots=True)
class GameScore:
    """One game: the numbers of its deals, the score it has reached, and who has won it."""

    coto: int
    game: int
    deals: list[int] = field(default_factory=list)
    totals: Pair = NOTHING
    over: bool = False
    winner: int | None = None

    def to_dict(self) -> dict[str, Any]:
        return {
            "coto": self.coto,
            "game": self.game,
            "deals": list(self.deals),
            "totals": list(self.totals),
            "said": [say_points(points) for points in self.totals],
            "over": self.over,
            "winner": self.winner,
        }


@dataclass(slots=True)
class CotoScore:
    """One coto: the games won by each side, the points of all its deals, and who has won it."""

    coto: int
    needed: int | str
    games: Pair = NOTHING
    deals: int = 0
    sums: Pair = NOTHING
    over: bool = False
    winner: int | None = None

    def to_dict(self) -> dict[str, Any]:
        return {
            "coto": self.coto,
            "needed": self.needed,
            "games": list(self.games),
            "deals": self.deals,
            "points": list(self.sums),
            "over": self.over,
            "winner": self.winner,
        }


def games_of(deals: Sequence[DealScore]) -> tuple[GameScore, ...]:
    """The games that the deals of a record make up."""
    games: list[GameScore] = []
    for deal in deals:
        here = deal.start
        if not games or (games[-1].coto, games[-1].game) != (here.coto, here.game):
            games.append(GameScore(here.coto, here.game))
        game = games[-1]
        game.deals.append(deal.number)
        if fixed_deals(deal.rules) is not None:
            game.totals = deal.standing.sums
        elif deal.result is not None:
            replayed = deal.result.verdict.outcome == REPLAY
            game.totals = deal.result.carried if replayed else deal.result.totals
        game.over, game.winner = deal.standing.game_over, deal.standing.game_winner
    return tuple(games)


def cotos_of(deals: Sequence[DealScore]) -> tuple[CotoScore, ...]:
    """The cotos that the deals of a record make up."""
    cotos: list[CotoScore] = []
    for deal in deals:
        if not cotos or cotos[-1].coto != deal.start.coto:
            cotos.append(CotoScore(deal.start.coto, deal.rules.games_per_coto))
        coto, standing = cotos[-1], deal.standing
        coto.games, coto.deals, coto.sums = standing.games, standing.deals, standing.sums
        coto.over, coto.winner = standing.coto_over, standing.coto_winner
    return tuple(cotos)


def _sum(*pairs: Pair) -> Pair:
    return sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)
