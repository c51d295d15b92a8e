"""The rules of Guiñote and its cousins as data: every difference between rule sheets is a field of a ruleset.

A named ruleset is a row of :data:`RULESETS`; :func:`resolve` puts a caller's overrides on it. What the fields mean is
said once, in :data:`FIELDS`. Nothing here looks at a ruleset's name to decide anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any, Final

from arrastre.cards import (
    AS,
    CABALLO,
    CARDS,
    FIGURES,
    REY,
    SOTA,
    TRES,
    Deck,
    card_of,
    figure_of,
    quoted,
    suit_of,
)
from arrastre.errors import Fault, InvalidRules

Value = bool | int | str

#: Points of a cante in trumps, and in another suit.
CANTE_TRUMPS: Final = 40
CANTE_PLAIN: Final = 20
CAPOTE_POINTS: Final = 100
MAX_POINTS: Final = 300


@dataclass(frozen=True, slots=True)
class Ruleset:
    """One way to play. A field that sheets answer with yes or no is a ``bool``; :data:`FIELDS` explains them all.

    ``name`` is the row it was made from.
    """

    name: str
    players: int
    deck: Deck
    figure_under_rey: str
    target: int
    last_trick: int
    beat_in_suit: str
    partner_exempt: bool
    undertrump: str
    strict_from_start: str
    cante_by: str
    cantes_per_trick: str
    cante_window: str
    exchange_when: str
    exchange_two: bool
    exchange_after_last_draw_trick: bool
    malas_minimum: int
    malas_counts_last_trick: bool
    malas_failure: str
    both_over: str
    vueltas: str
    claim: str
    tute: str | int
    capote: str | int
    games_per_coto: int | str
    next_dealer: str
    hand_size: int = 6
    draw: bool = True
    cantes: bool = True

    @property
    def under(self) -> int:
        """The figure that ranks under the rey, is worth 3 and is the rey's mate in a cante."""
        return CABALLO if self.figure_under_rey == "caballo" else SOTA

    @property
    def strengths(self) -> tuple[int, ...]:
        """By card: its rank within its suit, 0 (the 2) to 9 (the as)."""
        return _STRENGTHS[self.figure_under_rey]

    @property
    def values(self) -> tuple[int, ...]:
        """By card: the points it is worth to whoever takes it."""
        return _VALUES[self.figure_under_rey]

    @property
    def order(self) -> tuple[int, ...]:
        """By card: sort key of the order in which hands are written, suits O C E B, the strongest first."""
        return _ORDERS[self.figure_under_rey]

    def strength(self, card: int) -> int:
        """The rank of a card within its suit, 0 (the 2) to 9 (the as)."""
        return _STRENGTHS[self.figure_under_rey][card]

    def points(self, card: int) -> int:
        """What a card is worth to whoever takes it."""
        return _VALUES[self.figure_under_rey][card]

    def mate(self, suit: int) -> int:
        """The card that makes a cante with the rey of a suit."""
        return card_of(suit, self.under)

    @property
    def draw_tricks(self) -> int:
        """The number of tricks after which cards are drawn."""
        return (CARDS - self.players * self.hand_size) // self.players if self.draw else 0

    @property
    def stock_size(self) -> int:
        """The number of cards in the stock when the deal begins, the muestra included."""
        return self.draw_tricks * self.players

    @property
    def undealt(self) -> int:
        """The number of cards that take no part in a deal."""
        return CARDS - self.players * self.hand_size - self.stock_size

    @property
    def total_tricks(self) -> int:
        """The number of tricks in a deal."""
        return self.draw_tricks + self.hand_size

    def cante_points(self, suit: int, trump: int) -> int:
        """What singing a suit scores."""
        return CANTE_TRUMPS if suit == trump else CANTE_PLAIN

    def applies(self, name: str) -> bool:
        """Whether a field means anything with this number of players: rules about partners need partners."""
        return self.players == 4 or name not in PARTNER_FIELDS


def _tables(under: int) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    other = SOTA + CABALLO - under
    low = [figure for figure in range(FIGURES) if figure < SOTA and figure not in (AS, TRES)]
    ranking = [*low, other, under, REY, TRES, AS]
    worth = {other: 2, under: 3, REY: 4, TRES: 10, AS: 11}
    strengths = tuple(ranking.index(figure_of(card)) for card in range(CARDS))
    return (
        strengths,
        tuple(worth.get(figure_of(card), 0) for card in range(CARDS)),
        tuple(suit_of(card) * FIGURES + FIGURES - 1 - strengths[card] for card in range(CARDS)),
    )


_TABLES: Final = {"sota": _tables(SOTA), "caballo": _tables(CABALLO)}
_STRENGTHS: Final = {name: tables[0] for name, tables in _TABLES.items()}
_VALUES: Final = {name: tables[1] for name, tables in _TABLES.items()}
_ORDERS: Final = {name: tables[2] for name, tables in _TABLES.items()}


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a ruleset: what it may be, and what it means (``en``, ``es``).

    ``choices`` are the values by name. ``span`` allows a whole range of numbers beside them, ``counted`` words such
    as ``deals:5``.
    """

    choices: tuple[Value, ...]
    en: str
    es: str
    span: tuple[int, int] | None = None
    counted: str = ""

    def meaning(self, lang: str) -> str:
        """What the field means, in English or Spanish."""
        return self.es if lang == "es" else self.en

    def values(self) -> tuple[str, ...]:
        """The allowed values as rule sheets write them; a range of numbers is ``1-10``, a counted word ``deals:N``."""
        span = range(self.span[0], self.span[1] + 1) if self.span else range(0)
        names = [str(write_value(each)) for each in self.choices if isinstance(each, bool) or each not in span]
        if self.span:
            names.append(f"{self.span[0]}-{self.span[1]}")
        if self.counted:
            names.append(f"{self.counted}:N")
        return tuple(names)

    def allowed(self) -> str:
        """The allowed values, for messages."""
        return " or ".join(filter(None, [", ".join(self.values()[:-1]), self.values()[-1]]))

    def read(self, value: object) -> Value | None:
        """The value that somebody wrote, as a rule sheet or as a program would; ``None`` if it is none of this field.

        ``"yes"`` and ``true``, ``"101"`` and ``101`` are the same.
        """
        if isinstance(value, bool):
            wanted = "yes" if value else "no"
        elif isinstance(value, int | str):
            wanted = str(value).strip().lower() if not isinstance(value, int) or abs(value) < 10**6 else ""
        else:
            return None
        for choice in self.choices:
            if str(write_value(choice)) == wanted:
                return choice
        number = wanted.removeprefix(self.counted + ":") if self.counted else wanted
        if number.isascii() and number.isdigit() and len(number) <= 3:
            if number != wanted and int(number) > 0:
                return f"{self.counted}:{int(number)}"
            if number == wanted and self.span and self.span[0] <= int(number) <= self.span[1]:
                return int(number)
        return None


def write_value(value: Value) -> int | str:
    """A value as rule sheets write it: ``yes`` and ``no`` for booleans, numbers and words as they are."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value) if isinstance(value, str) else value


_YES_NO: Final = (True, False)

FIELDS: Final[dict[str, Field]] = {
    "players": Field(
        (4, 2), "players; with four, those who face each other are partners", "jugadores; si son cuatro, por parejas"
    ),
    "deck": Field(
        (Deck.SPANISH, Deck.FRENCH), "how cards are read and printed", "cómo se leen y se escriben las cartas"
    ),
    "figure_under_rey": Field(
        ("sota", "caballo"),
        "ranks under the rey, is worth 3 and sings with it; the other figure comes next and is worth 2",
        "va debajo del rey, vale 3 y canta con él; la otra figura va después y vale 2",
    ),
    "target": Field((101, 100, 61), "points that win the game", "tantos que ganan la partida"),
    "last_trick": Field((10, 0), "points for the last trick", "tantos por la última baza"),
    "beat_in_suit": Field(
        ("yes", "no", "led_suit"),
        "following suit: beat the winning card if able, unless a plain suit has been trumped / no duty to beat / "
        "beat the highest card of the suit led, trumped or not",
        "al servir: montar la carta que gana si se puede, salvo si han fallado / sin obligación de montar / "
        "montar la más alta del palo de salida, hayan fallado o no",
    ),
    "partner_exempt": Field(
        _YES_NO,
        "while the partner's card is winning: only follow suit; if void, any card",
        "si gana el compañero: solo servir al palo; sin el palo, cualquier carta",
    ),
    "undertrump": Field(
        ("free", "forced"),
        "void, the trick is trumped, cannot overtrump, holds trumps: any card / a trump all the same",
        "sin el palo, baza fallada, con triunfos que no superan: cualquier carta / triunfo igualmente",
    ),
    "strict_from_start": Field(
        ("no", "yes", "never"),
        "the duties of the arrastre: once the stock is gone / from the first trick / never",
        "obligaciones del arrastre: al acabarse el mazo / desde la primera baza / nunca",
    ),
    "cante_by": Field(
        ("side", "winner"),
        "who may sing after a trick: either partner of the side that won it / its winner only",
        "quién canta tras una baza: cualquiera de la pareja que la gana / solo quien la gana",
    ),
    "cantes_per_trick": Field(
        ("side", "member"),
        "cantes after one trick: one for the side / one for each partner",
        "cantes tras una baza: uno por pareja / uno por jugador",
    ),
    "cante_window": Field(
        ("own_lead", "rival_play"),
        "singing closes: when one's own side leads / when a rival has played to the next trick",
        "el cante se cierra: al salir la propia pareja / al jugar un rival a la baza siguiente",
    ),
    "exchange_when": Field(
        ("any_trick_won", "last_trick_won", "on_lead", "own_turn"),
        "the exchange: in any window once one's side has a trick / when one's side has just won a trick / by the "
        "player about to lead / on one's own turn while the stock lasts",
        "el cambio: entre bazas, con alguna baza ganada / recién ganada una baza / quien va a salir / en el propio "
        "turno mientras quede mazo",
    ),
    "exchange_two": Field(
        _YES_NO,
        "the 2 of trumps exchanges for a 7 turned up at the deal",
        "el 2 de triunfo cambia un 7 vuelto al repartir",
    ),
    "exchange_after_last_draw_trick": Field(
        _YES_NO,
        "the exchange may be made before the last cards are drawn",
        "se puede cambiar antes de robar las últimas cartas",
    ),
    "malas_minimum": Field(
        (0, 30),
        "points from cards that a side needs to win in the first deal",
        "tantos de cartas necesarios para ganar en el primer reparto",
    ),
    "malas_counts_last_trick": Field(
        _YES_NO, "the last trick's points count towards that minimum", "las diez de últimas cuentan para ese mínimo"
    ),
    "malas_failure": Field(
        ("not_reached", "lose"),
        "a side below the minimum: has not reached the target / loses the game",
        "quien no llega al mínimo: no ha llegado al objetivo / pierde la partida",
    ),
    "both_over": Field(
        ("last_trick", "higher_score"),
        "both sides over the target at the end of a deal: the last trick decides / the higher score",
        "las dos parejas pasan al acabar el reparto: decide la última baza / la puntuación mayor",
    ),
    "vueltas": Field(
        ("at_once", "won_trick", "end_of_deal"),
        "a carried-over deal ends: on reaching the target / when a side that has it wins a trick / when all is played",
        "las vueltas acaban: al llegar al objetivo / al ganar una baza quien ya llega / al jugarlo todo",
    ),
    "claim": Field(
        ("none", "at_risk"),
        "a player may stop the deal claiming the target, and loses the game if wrong",
        "un jugador puede parar diciendo que llega; si se equivoca, pierde la partida",
    ),
    "tute": Field(
        ("none", "wins", 40),
        "four reyes, or four of the figure under them, win the game / four reyes score 40",
        "cuatro reyes, o cuatro de la figura siguiente, ganan la partida / cuatro reyes valen 40",
    ),
    "capote": Field(
        ("none", CAPOTE_POINTS, "wins"), "one side takes every trick", "una pareja se lleva todas las bazas"
    ),
    "games_per_coto": Field(
        (1, 2, 3),
        "games a side needs for the coto, or deals:N for a fixed number of deals",
        "partidas que hacen un coto, o deals:N para un número fijo de repartos",
        span=(1, 99),
        counted="deals",
    ),
    "next_dealer": Field(
        ("rotate", "last_trick"),
        "who deals next: the next player / the winner of the last trick",
        "quién reparte después: el siguiente / quien gana la última baza",
    ),
    "hand_size": Field((6,), "cards in a hand", "cartas por mano", span=(1, 10)),
    "draw": Field(_YES_NO, "a card is drawn after each trick while the stock lasts", "se roba tras cada baza"),
    "cantes": Field(_YES_NO, "rey and mate may be sung", "se puede cantar"),
}

#: Fields about partners: with two players they never apply.
PARTNER_FIELDS: Final = frozenset({"partner_exempt", "cante_by", "cantes_per_trick"})

_ARAGONES: Final = Ruleset(
    name="aragones",
    players=4,
    deck=Deck.SPANISH,
    figure_under_rey="sota",
    target=101,
    last_trick=10,
    beat_in_suit="yes",
    partner_exempt=True,
    undertrump="free",
    strict_from_start="no",
    cante_by="side",
    cantes_per_trick="side",
    cante_window="own_lead",
    exchange_when="any_trick_won",
    exchange_two=True,
    exchange_after_last_draw_trick=True,
    malas_minimum=30,
    malas_counts_last_trick=True,
    malas_failure="not_reached",
    both_over="last_trick",
    vueltas="at_once",
    claim="none",
    tute="wins",
    capote="none",
    games_per_coto=3,
    next_dealer="rotate",
)
_CIEN: Final = replace(
    _ARAGONES,
    name="cien",
    figure_under_rey="caballo",
    target=100,
    beat_in_suit="led_suit",
    partner_exempt=False,
    undertrump="forced",
    cante_by="winner",
    cantes_per_trick="member",
    exchange_when="own_turn",
    exchange_two=False,
    exchange_after_last_draw_trick=False,
    malas_minimum=0,
    both_over="higher_score",
    vueltas="end_of_deal",
    tute="none",
    capote=CAPOTE_POINTS,
    games_per_coto=2,
)

#: The named rulesets, by name.
RULESETS: Final[dict[str, Ruleset]] = {
    row.name: row
    for row in (
        _ARAGONES,
        replace(
            _ARAGONES,
            name="gamerules",
            deck=Deck.FRENCH,
            figure_under_rey="caballo",
            cantes_per_trick="member",
            exchange_when="on_lead",
            exchange_two=False,
            exchange_after_last_draw_trick=False,
            malas_minimum=0,
            vueltas="end_of_deal",
            claim="at_risk",
            tute="none",
            games_per_coto=1,
        ),
        _CIEN,
        replace(
            _ARAGONES,
            name="torneo",
            partner_exempt=False,
            cantes_per_trick="member",
            cante_window="rival_play",
            exchange_when="last_trick_won",
            malas_counts_last_trick=False,
            malas_failure="lose",
            vueltas="won_trick",
            next_dealer="last_trick",
        ),
        replace(_CIEN, name="riojano", tute=40),
        replace(_CIEN, name="temprano", strict_from_start="yes"),
    )
}


@cache
def row(name: str, players: int) -> Ruleset:
    """A named ruleset without overrides, for 4 or 2 players. Raises ``KeyError``."""
    return replace(RULESETS[name], players=players)


def field_name(name: str) -> str | None:
    """The field that a name means, written as in rule sheets or in camelCase; ``None`` if there is no such field."""
    if name in FIELDS:
        return name
    snake = "".join("_" + letter.lower() if letter.isupper() else letter for letter in name)
    return snake if snake in FIELDS else None


def examine(name: str, overrides: Mapping[str, Any] | None = None, players: int = 4) -> tuple[Ruleset, list[Fault]]:
    """The ruleset of a name with single fields overridden, as far as it can be understood, and every fault in it.

    Reasons: ``UNKNOWN_RULESET``, ``UNKNOWN_RULE``, ``BAD_RULE``, ``REPEATED_FIELD``, ``BAD_PLAYERS``; their fields are
    ``ruleset``, ``rules.<field>`` and ``players``.
    """
    faults: list[Fault] = []
    base = RULESETS.get(name)
    if base is None:
        known = ", ".join(RULESETS)
        faults.append(Fault("ruleset", "UNKNOWN_RULESET", f"there is no ruleset '{quoted(name)}'; there are {known}"))
        base = _ARAGONES
    if isinstance(players, bool) or players not in (2, 4):
        faults.append(Fault("players", "BAD_PLAYERS", "there are 4 players, or 2"))
        players = 4
    if not overrides:
        return row(base.name, players), faults
    values: dict[str, Value] = {}
    for given, value in overrides.items():
        path = f"rules.{quoted(given)}"
        known_name = field_name(given)
        if known_name is None:
            faults.append(Fault(path, "UNKNOWN_RULE", f"rulesets have no field '{quoted(given)}'"))
            continue
        read = FIELDS[known_name].read(value)
        if read is None:
            allowed = FIELDS[known_name].allowed()
            faults.append(Fault(path, "BAD_RULE", f"{known_name} cannot be {_shown(value)}; it may be {allowed}"))
        elif known_name in values:
            faults.append(Fault(path, "REPEATED_FIELD", f"{known_name} is given twice"))
        elif known_name == "players" and read != players:
            faults.append(Fault(path, "BAD_RULE", f"there are {players} players here; say so in 'players'"))
        else:
            values[known_name] = read
    values["players"] = players
    ruleset = replace(base, **values)  # type: ignore[arg-type]  # Field.read only gives values of the field's type
    return ruleset, faults


def _shown(value: object) -> str:
    if isinstance(value, str):
        return f"'{quoted(value)}'"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) and abs(value) < 10**9 else f"a {type(value).__name__}"


def resolve(name: str, overrides: Mapping[str, Any] | None = None, players: int = 4) -> Ruleset:
    """The ruleset of a name, with single fields overridden.

    Raises :class:`~arrastre.errors.InvalidRules` with every fault (see :func:`examine`).
    """
    ruleset, faults = examine(name, overrides, players)
    if faults:
        raise InvalidRules("the rules have faults", faults)
    return ruleset


def differences(ruleset: Ruleset) -> dict[str, int | str]:
    """The fields in which a ruleset differs from the named row it was made from, written as in rule sheets."""
    base = row(ruleset.name, ruleset.players)
    if ruleset is base:
        return {}
    return {
        each.name: write_value(getattr(ruleset, each.name))
        for each in fields(Ruleset)
        if each.name != "name" and getattr(ruleset, each.name) != getattr(base, each.name)
    }
