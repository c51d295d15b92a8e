"""Why an action may be refused, as stable reasons and in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from arrastre.cards import UNKNOWN
from arrastre.guinote.spelling import ACTIONS_HELP


@dataclass(frozen=True, slots=True)
class Objection:
    """Why an action is not allowed: a stable reason, the card that causes it, and what else the sentence names."""

    reason: str
    cause: int = UNKNOWN
    able: tuple[int, ...] = ()
    seat: int = UNKNOWN


#: Reasons that say no more than that a seat lacks the cards; any other seat's objection tells more.
LACKING: Final = frozenset({"CANTE_CARDS", "EXCHANGE_CARD", "TUTE_CARDS"})

#: Reasons for which a declaration cannot be acted on at all, even if everybody at the table lets it pass.
IMPOSSIBLE: Final = frozenset(
    {"BAD_SEAT", "NO_CANTES", "CANTE_SUNG", "CANTE_CARDS"}
    | {"EXCHANGE_NO_STOCK", "EXCHANGE_DONE", "EXCHANGE_SEVEN", "EXCHANGE_CARD"}
)

#: Every reason for which an action may be refused, in English and in Spanish. ``cause`` is the card that causes it.
SENTENCES: Final[dict[str, tuple[str, str]]] = {
    "FOLLOW_SUIT": (
        "must follow suit: {cause} was led, and {led} are in hand",
        "hay que servir al palo: salió {cause} y hay {led} en la mano",
    ),
    "BEAT_CARD": (
        "must beat {cause}: {able} can",
        "hay que montar {cause}: se puede con {able}",
    ),
    "MUST_TRUMP": (
        "must trump: {cause} was led, no {led} are in hand and trumps are",
        "hay que fallar: salió {cause}, no hay {led} en la mano y sí triunfos",
    ),
    "OVERTRUMP": (
        "must overtrump {cause}, which is winning: {able} can",
        "hay que superar el triunfo {cause}, que va ganando: se puede con {able}",
    ),
    "UNDERTRUMP": (
        "must play a trump, though none in hand beats {cause}",
        "hay que echar triunfo, aunque ninguno supere {cause}",
    ),
    "NOT_IN_HAND": ("seat {seat} does not hold {cause}", "el asiento {seat} no tiene {cause}"),
    "NOT_YOUR_TURN": (
        "{card} is not for seat {other} to play: it is seat {turn}'s turn",
        "no le toca al asiento {other} jugar {card}: es el turno del asiento {turn}",
    ),
    "WINDOW_OPEN": (
        "no card is played yet: the side of seat {turn} may exchange first, or pass",
        "aún no se juega carta: antes puede cambiar, o pasar, la pareja del asiento {turn}",
    ),
    "NOTHING_TO_PASS": (
        "nobody can pass here: seat {turn} has to play a card",
        "aquí no se pasa: el asiento {turn} tiene que jugar una carta",
    ),
    "NOT_YOUR_PASS": (
        "it is not for seat {seat} to pass: it is the turn of the side of seat {turn}",
        "no le toca pasar al asiento {seat}: es el turno de la pareja del asiento {turn}",
    ),
    "BAD_SEAT": ("there is no seat {seat}", "no hay asiento {seat}"),
    "UNKNOWN_ACTION": (f"this is no action: {ACTIONS_HELP[0]}", f"esto no es ninguna jugada: {ACTIONS_HELP[1]}"),
    "NO_CANTES": ("these rules have no cantes", "con estas reglas no se canta"),
    "CANTE_SUNG": ("{suit} have been sung already", "{suit} ya se ha cantado"),
    "CANTE_MOMENT": (
        "{suit} can only be sung between two tricks, before one's side leads",
        "{suit} solo se canta entre bazas, antes de salir",
    ),
    "CANTE_NO_TRICK": (
        "{suit} can only be sung once a trick has been won",
        "{suit} solo se canta después de ganar una baza",
    ),
    "CANTE_CARDS": (
        "{suit} need two cards in one hand, and {cause} is missing",
        "{suit} necesita dos cartas en la misma mano, y falta {cause}",
    ),
    "CANTE_SIDE": (
        "{suit} can only be sung by the side that won the last trick",
        "{suit} solo lo canta la pareja que ganó la última baza",
    ),
    "CANTE_WINNER": (
        "{suit} can only be sung by the winner of the last trick",
        "{suit} solo lo canta quien ganó la última baza",
    ),
    "CANTE_LIMIT": (
        "{suit} must wait: seat {other} has sung after this trick already",
        "{suit} tiene que esperar: el asiento {other} ya ha cantado tras esta baza",
    ),
    "EXCHANGE_NO_STOCK": (
        "there is nothing to exchange: the muestra has been drawn",
        "no hay nada que cambiar: la muestra ya se ha robado",
    ),
    "EXCHANGE_DONE": (
        "the exchange has been made already: {cause} was put there",
        "ya se ha hecho el cambio: se dejó {cause}",
    ),
    "EXCHANGE_SEVEN": (
        "the card turned up is {cause} itself, which these rules do not exchange",
        "la carta vuelta es {cause}, que con estas reglas no se cambia",
    ),
    "EXCHANGE_CARD": ("{cause} is needed for the exchange", "para cambiar hace falta {cause}"),
    "EXCHANGE_TURN": (
        "{cause} is exchanged on one's own turn, before playing a card",
        "{cause} se cambia en el propio turno, antes de jugar carta",
    ),
    "EXCHANGE_MOMENT": ("{cause} is exchanged between two tricks", "{cause} se cambia entre bazas"),
    "EXCHANGE_SIDE": (
        "{cause} is not exchanged now: it is the other side's turn",
        "{cause} no se cambia ahora: es el turno de la otra pareja",
    ),
    "EXCHANGE_NO_TRICK": (
        "{cause} is exchanged once one's side has won a trick",
        "{cause} se cambia cuando la pareja ha ganado alguna baza",
    ),
    "EXCHANGE_LEADER": (
        "{cause} is exchanged by the player who is about to lead",
        "{cause} lo cambia quien va a salir",
    ),
    "EXCHANGE_LAST_TRICK": (
        "{cause} is exchanged when one's side has just won a trick",
        "{cause} se cambia recién ganada una baza",
    ),
    "NO_TUTE": ("these rules have no tute", "con estas reglas no hay tute"),
    "TUTE_DONE": ("a tute has been declared already", "ya se ha cantado un tute"),
    "TUTE_MOMENT": (
        "a tute is declared between two tricks, before one's side leads",
        "el tute se canta entre bazas, antes de salir",
    ),
    "TUTE_NO_TRICK": (
        "a tute is declared once a trick has been won",
        "el tute se canta después de ganar una baza",
    ),
    "TUTE_CARDS": (
        "a tute needs four cards of the right figure in one hand",
        "el tute necesita cuatro cartas de la figura en la misma mano",
    ),
    "TUTE_SIDE": (
        "a tute is declared by the side that won the last trick",
        "el tute lo canta la pareja que ganó la última baza",
    ),
}


def listed(texts: Sequence[str], spanish: bool) -> str:
    """Texts as alternatives in a sentence."""
    if len(texts) < 2:
        return "".join(texts)
    return f"{', '.join(texts[:-1])} {'o' if spanish else 'or'} {texts[-1]}"


def seat_name(seat: int) -> str:
    """A seat in a sentence: its number and, at the table, its letter."""
    return f"{seat} ({'NOSE'[seat]})" if 0 <= seat < 4 else str(seat)
