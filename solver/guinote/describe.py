"""Positions, actions and rules of the family in words and faces, in Spanish and English. For people, never parsed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

from arrastre.cards import UNKNOWN, card_symbol, parse_card, parse_suit, suit_name, suit_of
from arrastre.game import Action, Diagram, Face, RuleRow, Score, SeatView, Table
from arrastre.guinote import scoring
from arrastre.guinote.position import CAMBIO, CANTE, CLAIM, PASS, TUTE, GuinotePosition
from arrastre.guinote.rules import FIELDS, RULESETS, Ruleset, resolve, row, write_value

SEAT_NAMES: Final = ("N", "O", "S", "E")
NO_SUIT: Final = -1

_WORDS: Final = {
    "en": {
        "trump": "Trumps",
        "rules": "Rules",
        "points": "Points",
        "carried": "Carried over",
        "tricks": "Tricks",
        "sung": "Sung",
        "exchanged": "Exchange",
        "made": "made",
        "vueltas": "vueltas",
        "malas": "malas",
        "buenas": "buenas",
        "after": "after trick",
        "moment": "Moment",
        "rivals": "the rivals may exchange",
        "before_draw_rivals": "last draw: the rivals may exchange",
        "before_draw": "last draw: the winners may exchange",
        CANTE: "sing",
        CAMBIO: "exchange",
        TUTE: "tute",
        PASS: "pass",
        CLAIM: "claim the game",
    },
    "es": {
        "trump": "Triunfo",
        "rules": "Reglas",
        "points": "Tantos",
        "carried": "De antes",
        "tricks": "Bazas",
        "sung": "Cantado",
        "exchanged": "Cambio",
        "made": "hecho",
        "vueltas": "vueltas",
        "malas": "malas",
        "buenas": "buenas",
        "after": "tras la baza",
        "moment": "Momento",
        "rivals": "pueden cambiar los contrarios",
        "before_draw_rivals": "último robo: pueden cambiar los contrarios",
        "before_draw": "último robo: pueden cambiar los ganadores",
        CANTE: "cantar",
        CAMBIO: "cambiar",
        TUTE: "tute",
        PASS: "pasar",
        CLAIM: "cantar la partida",
    },
}

_SCORE_WORDS: Final = {
    "en": {
        "deal": "Deal",
        "deals": "Deals",
        "game": "Game",
        "games": "Games",
        "coto": "Coto",
        "points": "Points",
        "cards": "Cards",
        "last": "Last trick",
        "cantes": "Cantes",
        "tute": "Tute",
        "capote": "Capote",
        "carried": "Carried over",
        "total": "Total",
        "result": "Result",
        "unknown": "not known",
        "open": "not over",
        "drawn": "drawn",
        "wins": "{side} wins",
        scoring.VUELTAS: "goes to vueltas",
        scoring.REPLAY: "tied, dealt again",
        scoring.SUMMED: "counted",
        scoring.UNFINISHED: "unfinished",
        "by target": "",
        "by last_trick": "both over, last trick",
        "by higher_score": "both over, higher score",
        "by malas": "the rivals fell short of the minimum",
        "by tute": "tute",
        "by capote": "capote",
        "by claim": "claim",
        "by wrong_claim": "wrong claim",
        "by carried": "carried over",
    },
    "es": {
        "deal": "Reparto",
        "deals": "Repartos",
        "game": "Partida",
        "games": "Partidas",
        "coto": "Coto",
        "points": "Tantos",
        "cards": "Cartas",
        "last": "Última baza",
        "cantes": "Cantes",
        "tute": "Tute",
        "capote": "Capote",
        "carried": "De antes",
        "total": "Total",
        "result": "Resultado",
        "unknown": "no se sabe",
        "open": "sin acabar",
        "drawn": "empate",
        "wins": "gana {side}",
        scoring.VUELTAS: "va de vueltas",
        scoring.REPLAY: "empate, se reparte de nuevo",
        scoring.SUMMED: "se suma",
        scoring.UNFINISHED: "sin acabar",
        "by target": "",
        "by last_trick": "pasan los dos, últimas",
        "by higher_score": "pasan los dos, más tantos",
        "by malas": "los contrarios no llegan al mínimo",
        "by tute": "tute",
        "by capote": "capote",
        "by claim": "cantó la partida",
        "by wrong_claim": "la cantó mal el contrario",
        "by carried": "ya los traía",
    },
}


def _words(lang: str) -> Mapping[str, str]:
    return _WORDS["es" if lang == "es" else "en"]


def _face(position: GuinotePosition, card: int) -> Face:
    return Face(card_symbol(card, position.rules.deck), NO_SUIT if card == UNKNOWN else suit_of(card))


def _faces(position: GuinotePosition, cards: Sequence[int]) -> tuple[Face, ...]:
    return tuple(_face(position, card) for card in cards)


def side_names(players: int) -> tuple[str, str]:
    """How the two sides are called: by their seats."""
    names = ["".join(SEAT_NAMES[side:players:2]) for side in range(2)]
    return names[0], names[1]


def _by_side(position: GuinotePosition, numbers: Sequence[int]) -> str:
    return "  ".join(f"{name} {number}" for name, number in zip(side_names(position.players), numbers, strict=True))


def diagram(position: GuinotePosition, lang: str) -> Diagram:
    """The position laid out for people."""
    words, rules = _words(lang), position.rules
    seats = tuple(
        SeatView(SEAT_NAMES[seat], seat & 1, _faces(position, hand), position.hidden[seat])
        for seat, hand in enumerate(position.hands)
    )
    changed = [f"{name}={write_value(getattr(rules, name))}" for name in _overridden(rules)]
    facts = [
        (words["trump"], suit_name(position.trump, rules.deck, lang)),
        (words["rules"], ", ".join([rules.name, *changed])),
        (words["points"], _by_side(position, position.points)),
    ]
    if position.vueltas or any(position.carried):
        kind = f"  ({words['vueltas']})" if position.vueltas else ""
        facts.append((words["carried"], _by_side(position, position.carried) + kind))
    if position.tricks is not None:
        facts.append((words["tricks"], _by_side(position, position.tricks)))
    if position.sung:
        cantes = [
            f"{SEAT_NAMES[each.seat]} {suit_name(each.suit, rules.deck, lang)} ({words['after']} {each.trick})"
            for each in position.sung
        ]
        facts.append((words["sung"], ", ".join(cantes)))
    if position.tute is not None:
        who = SEAT_NAMES[position.tute.seat]
        facts.append((words["sung"], f"{who} {words[TUTE]} ({words['after']} {position.tute.trick})"))
    if position.exchanged:
        facts.append((words["exchanged"], words["made"]))
    if position.moment in words:
        facts.append((words["moment"], words[position.moment]))
    return Diagram(
        seats=seats,
        turn=position.seat,
        trick=tuple(
            ((position.leader + place) % position.players, _face(position, card))
            for place, card in enumerate(position.trick)
        ),
        stock=_faces(position, position.stock),
        muestra=_face(position, position.stock[-1]) if position.stock else None,
        facts=tuple(facts),
    )


def action_face(position: GuinotePosition, action: Action, lang: str) -> Face:
    """An action as people read it."""
    words, text, deck = _words(lang), action.action, position.rules.deck
    if text in (CAMBIO, TUTE, PASS, CLAIM):
        return Face(words[text], NO_SUIT)
    if text.startswith(CANTE):
        suit = parse_suit(text.removeprefix(CANTE).strip(), deck)
        return Face(f"{words[CANTE]} {suit_name(suit, deck, lang)}", suit)
    return _face(position, parse_card(text, deck))


def _overridden(rules: Ruleset) -> list[str]:
    base = row(rules.name, rules.players)
    return [each.name for each in fields(Ruleset) if getattr(rules, each.name) != getattr(base, each.name)]


def rule_rows(name: str, overrides: Mapping[str, Any], players: int, lang: str) -> tuple[RuleRow, ...]:
    """A ruleset field by field, beside the family's default. Fields about partners are left out without partners."""
    rules = resolve(name, overrides, players)
    default = row(next(iter(RULESETS)), players)
    return tuple(
        RuleRow(
            field=each,
            value=str(write_value(getattr(rules, each))),
            default=str(write_value(getattr(default, each))),
            differs=getattr(rules, each) != getattr(default, each),
            meaning=FIELDS[each].meaning(lang),
            values=FIELDS[each].values(),
        )
        for each in FIELDS
        if rules.applies(each)
    )


@dataclass(frozen=True, slots=True)
class RecordScore(Score):
    """What the deals of a record add up to, by deal, game and coto."""

    deals: tuple[scoring.DealScore, ...]

    @property
    def games(self) -> tuple[scoring.GameScore, ...]:
        """The games, in order."""
        return scoring.games_of(self.deals)

    @property
    def cotos(self) -> tuple[scoring.CotoScore, ...]:
        """The cotos, in order."""
        return scoring.cotos_of(self.deals)

    def to_dict(self) -> dict[str, Any]:
        return {
            "deals": [deal.to_dict() for deal in self.deals],
            "games": [game.to_dict() for game in self.games],
            "cotos": [coto.to_dict() for coto in self.cotos],
        }

    def tables(self, lang: str) -> tuple[Table, ...]:
        words = _SCORE_WORDS["es" if lang == "es" else "en"]
        sides = side_names(self.deals[0].rules.players) if self.deals else ("", "")
        deals: list[tuple[str, ...]] = []
        for deal in self.deals:
            place = (str(deal.number), str(deal.start.game))
            if deal.result is None:
                deals.append((*place, "", "", "", words["unknown"]))
                continue
            scores = (deal.result.points, deal.result.carried, deal.result.totals)
            deals.append((*place, *(_score(each) for each in scores), _verdict(deal.result.verdict, sides, words)))
        games = [
            (str(game.game), _numbers(game.deals), _said(game.totals), _winner(game.over, game.winner, sides, words))
            for game in self.games
        ]
        cotos = [
            (str(coto.coto), _score(coto.games), _score(coto.sums), _winner(coto.over, coto.winner, sides, words))
            for coto in self.cotos
        ]
        sources: list[tuple[str, ...]] = []
        for deal in self.deals:
            if deal.result is not None:
                made = deal.result.sources
                by_kind = (made.cards, made.last_trick, made.cantes, made.tute, made.capote, made.points)
                sources.append((str(deal.number), *(_score(each) for each in by_kind)))
        both = "  ".join(side for side in sides if side)
        points, total = f"{words['points']}  {both}", f"{words['total']}  {both}"
        head = (words["deal"], words["game"], points, words["carried"], words["total"], words["result"])
        kinds = (f"{words['cards']}  {both}", *(words[kind] for kind in ("last", "cantes", "tute", "capote", "points")))
        return (
            Table(head, tuple(deals)),
            Table((words["deal"], *kinds), tuple(sources)),
            Table((words["game"], words["deals"], total, words["result"]), tuple(games)),
            Table((words["coto"], f"{words['games']}  {both}", points, words["result"]), tuple(cotos)),
        )


def _score(pair: scoring.Pair) -> str:
    return f"{pair[0]}  {pair[1]}"


def _said(pair: scoring.Pair) -> str:
    """Both sides' points, as numbers and as malas and buenas."""
    return "   ".join(f"{points} ({scoring.say_points(points)})" for points in pair)


def _numbers(numbers: Sequence[int]) -> str:
    if len(numbers) > 1 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"{numbers[0]}-{numbers[-1]}"
    return ", ".join(map(str, numbers))


def _verdict(verdict: scoring.Verdict, sides: tuple[str, str], words: Mapping[str, str]) -> str:
    if verdict.winner is None:
        return words[verdict.outcome]
    said = words["wins"].format(side=sides[verdict.winner])
    why = words[f"by {verdict.reason}"]
    return f"{said} ({why})" if why else said


def _winner(over: bool, winner: int | None, sides: tuple[str, str], words: Mapping[str, str]) -> str:
    if not over:
        return words["open"]
    return words["drawn"] if winner is None else words["wins"].format(side=sides[winner])
