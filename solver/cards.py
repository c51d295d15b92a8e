"""The forty cards, in a Spanish pack or in the French one that stands for it.

A card is a number 0..39: ten times the suit (0 oros, 1 copas, 2 espadas, 3 bastos) plus the figure's index
(0..6 the as to the 7, then sota, caballo, rey). What a figure is worth and which one beats which is a matter of
rules, not of the pack.

:func:`parse_card` reads every spelling people use; :func:`card_text` writes exactly one.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from typing import Final

CARDS: Final = 40
SUITS: Final = 4
OROS: Final = 0
COPAS: Final = 1
ESPADAS: Final = 2
BASTOS: Final = 3
FIGURES: Final = 10
AS: Final = 0
DOS: Final = 1
TRES: Final = 2
SIETE: Final = 6
SOTA: Final = 7
CABALLO: Final = 8
REY: Final = 9
UNKNOWN: Final = -1
UNKNOWN_TEXT: Final = "?"


class Deck(StrEnum):
    """How cards are read and printed."""

    SPANISH = "spanish"
    FRENCH = "french"


class CardError(ValueError):
    """A text that names no card, or no suit, or more than one; ``reason`` is a fault's reason."""

    def __init__(self, reason: str, message: str) -> None:
        self.reason = reason
        self.message = message
        super().__init__(message)


_FIGURE_LETTERS: Final = {Deck.SPANISH: "1234567SCR", Deck.FRENCH: "A234567JQK"}
_SUIT_LETTERS: Final = {Deck.SPANISH: "OCEB", Deck.FRENCH: "DHSC"}
_SYMBOLS: Final = "♦♥♠♣"
_SPANISH_NAMES: Final = ("oros", "copas", "espadas", "bastos")
_FRENCH_NAMES: Final = {
    "en": ("diamonds", "hearts", "spades", "clubs"),
    "es": ("diamantes", "corazones", "picas", "tréboles"),
}

_SUIT_WORDS: Final = {
    Deck.SPANISH: {
        **dict.fromkeys(("oro", "oros"), OROS),
        **dict.fromkeys(("copa", "copas"), COPAS),
        **dict.fromkeys(("espada", "espadas"), ESPADAS),
        **dict.fromkeys(("basto", "bastos"), BASTOS),
    },
    Deck.FRENCH: {
        **dict.fromkeys(("diamond", "diamonds", "diamante", "diamantes"), OROS),
        **dict.fromkeys(("heart", "hearts", "corazon", "corazones"), COPAS),
        **dict.fromkeys(("spade", "spades", "pica", "picas"), ESPADAS),
        **dict.fromkeys(("club", "clubs", "trebol", "treboles"), BASTOS),
    },
}
_NUMBER_WORDS: Final = ("as", "dos", "tres", "cuatro", "cinco", "seis", "siete")
_FIGURE_WORDS: Final = {
    Deck.SPANISH: {word: i for i, word in enumerate(_NUMBER_WORDS)} | {"sota": SOTA, "caballo": CABALLO, "rey": REY},
    Deck.FRENCH: {word: i for i, word in enumerate(_NUMBER_WORDS)}
    | {"ace": AS, "jack": SOTA, "jota": SOTA, "queen": CABALLO, "dama": CABALLO, "reina": CABALLO}
    | {"king": REY, "rey": REY},
}
_ABSENT_WORDS: Final = {"ocho", "nueve", "diez"}

#: No spelling of a card is longer.
_MAX_CARD: Final = 40
_PLAIN: Final = str.maketrans("áéíóúü", "aeiouu", "\ufe0e\ufe0f")
_PARTS: Final = re.compile(r"[0-9]+|[a-zñ]+|[♠♥♦♣]")
_FILLER: Final = re.compile(r"[\s_\-]+")
_HELP: Final = {
    Deck.SPANISH: "write the figure (1-7, S, C, R), then the suit (O, C, E, B), as in 7O",
    Deck.FRENCH: "write A, 2-7, J, Q or K, then S, H, D or C, as in 7D",
}


def suit_of(card: int) -> int:
    """The suit 0..3 of a card."""
    return card // FIGURES


def figure_of(card: int) -> int:
    """The figure 0..9 of a card: as, 2..7, sota, caballo, rey."""
    return card % FIGURES


def card_of(suit: int, figure: int) -> int:
    """The card of a suit 0..3 and a figure 0..9."""
    return suit * FIGURES + figure


#: What :func:`card_text` writes, by card.
CARD_TEXTS: Final[dict[Deck, tuple[str, ...]]] = {
    deck: tuple(figure + suit for suit in _SUIT_LETTERS[deck] for figure in _FIGURE_LETTERS[deck]) for deck in Deck
}
#: The same the other way round: the card of a canonical text. Gates try this before :func:`parse_card`.
CARD_OF_TEXT: Final[dict[Deck, dict[str, int]]] = {
    deck: {text: card for card, text in enumerate(texts)} for deck, texts in CARD_TEXTS.items()
}


def card_text(card: int, deck: Deck) -> str:
    """The canonical text of a card: ``7O``, or ``7D`` with a French deck; ``?`` for an unknown card."""
    return CARD_TEXTS[deck][card] if card >= 0 else UNKNOWN_TEXT


def card_symbol(card: int, deck: Deck) -> str:
    """A card as people like to see it: ``7O``, or ``7♦`` with a French deck."""
    if card < 0:
        return UNKNOWN_TEXT
    return _FIGURE_LETTERS[deck][figure_of(card)] + suit_symbol(suit_of(card), deck)


def suit_text(suit: int, deck: Deck) -> str:
    """The canonical letter of a suit: O C E B, or D H S C with a French deck."""
    return _SUIT_LETTERS[deck][suit]


def suit_symbol(suit: int, deck: Deck) -> str:
    """A suit as people like to see it: its letter, or its symbol with a French deck."""
    return _SYMBOLS[suit] if deck is Deck.FRENCH else _SUIT_LETTERS[deck][suit]


def suit_name(suit: int, deck: Deck, lang: str) -> str:
    """A suit's name in a sentence: in Spanish, save for a French deck in English."""
    if deck is Deck.SPANISH:
        return _SPANISH_NAMES[suit]
    return _FRENCH_NAMES["es" if lang == "es" else "en"][suit]


def quoted(text: str, limit: int = 40) -> str:
    """Somebody's text, made fit to be quoted in a message: short, and with nothing in it that a terminal obeys."""
    short = text if len(text) <= limit else text[: limit - 1] + "…"
    return short if short.isprintable() else short.encode("unicode_escape").decode("ascii")


def parse_suit(text: str, deck: Deck) -> int:
    """A suit's letter in this deck, its symbol, or its name in Spanish (or English, for a French deck).

    Raises :class:`CardError` with the reason ``UNKNOWN_SUIT``.
    """
    plain = text.strip().lower().translate(_PLAIN) if len(text) <= _MAX_CARD else ""
    suit = _suit(plain, deck) if plain else None
    if suit is None:
        raise CardError("UNKNOWN_SUIT", f"'{quoted(text)}' is no suit; the suits are {', '.join(_SUIT_LETTERS[deck])}")
    return suit


def parse_card(text: str, deck: Deck) -> int:
    """The card that a text names: the figure and the suit in either order, as letters, numbers, symbols or words.

    With a Spanish deck ``7O``, ``7o``, ``O7``, ``O07``, ``oros_7``, ``7 de oros``, ``12O``, ``rey de oros``; with a
    French deck ``7D``, ``d7``, ``7♦``, ``QH``, ``queen of hearts``, and any card whose Spanish suit is written out.

    Raises :class:`CardError`: ``UNKNOWN_CARD``, ``NOT_IN_DECK`` for an 8, a 9 (or a French ten by name), or
    ``AMBIGUOUS_CARD`` for a court card given by number with a French deck, where packs number them differently.
    """
    found = CARD_OF_TEXT[deck].get(text)
    if found is not None:
        return found
    if len(text) > _MAX_CARD:
        raise CardError("UNKNOWN_CARD", f"'{quoted(text)}' is no card; {_HELP[deck]}")
    return _parse_card(text, deck)


@lru_cache(maxsize=1024)
def _parse_card(text: str, deck: Deck) -> int:
    plain = text.strip().lower().translate(_PLAIN)
    pair = _halves(plain)
    if pair is not None:
        card = _card(*pair, deck, text)
        if card is None:
            card = _card(pair[1], pair[0], deck, text)
        if card is not None:
            return card
        other = Deck.FRENCH if deck is Deck.SPANISH else Deck.SPANISH
        if any(_suit(b, other) is not None and _figure(a, other) is not None for a, b in (pair, pair[::-1])):
            raise CardError(
                "UNKNOWN_CARD",
                f"'{quoted(text)}' is no card of the {deck} deck, though it is one of the {other} deck "
                f"(rule deck={other}); {_HELP[deck]}",
            )
    raise CardError("UNKNOWN_CARD", f"'{quoted(text)}' is no card; {_HELP[deck]}")


def _halves(plain: str) -> tuple[str, str] | None:
    """Split a text into two parts, one of which should be the figure and the other the suit."""
    words = [word for word in _FILLER.split(plain) if word]
    if len(words) == 3 and words[1] in ("de", "of"):
        return words[0], words[2]
    if len(words) == 2:
        return words[0], words[1]
    if len(words) != 1:
        return None
    word = words[0]
    if len(word) == 2:
        return word[0], word[1]
    parts = _PARTS.findall(word)
    return (parts[0], parts[1]) if len(parts) == 2 and "".join(parts) == word else None


def _suit(plain: str, deck: Deck) -> int | None:
    if len(plain) == 1:
        at = max(_SUIT_LETTERS[deck].lower().find(plain), _SYMBOLS.find(plain))
        return at if at >= 0 else None
    own = _SUIT_WORDS[deck].get(plain)
    # A suit's full name in Spanish says which suit is meant whatever the pack.
    return own if own is not None else _SUIT_WORDS[Deck.SPANISH].get(plain)


def _figure(plain: str, deck: Deck) -> int | None:
    word = _FIGURE_WORDS[deck].get(plain)
    if word is not None:
        return word
    if len(plain) == 1:
        at = _FIGURE_LETTERS[deck].lower().find(plain)
        if at >= 0:
            return at
    number = _number(plain)
    if 1 <= number <= 7:
        return number - 1
    return SOTA + number - 10 if deck is Deck.SPANISH and 10 <= number <= 12 else None


def _number(plain: str) -> int:
    """A number of up to three digits (leading zeros do no harm), else −1."""
    return int(plain) if len(plain) <= 3 and plain.isascii() and plain.isdigit() else -1


def _card(figure_part: str, suit_part: str, deck: Deck, text: str) -> int | None:
    suit = _suit(suit_part, deck)
    if suit is None:
        return None
    # "12 de oros" is spelled in Spanish throughout, and means the rey whatever the pack.
    spelled = Deck.SPANISH if suit_part in _SUIT_WORDS[Deck.SPANISH] else deck
    figure = _figure(figure_part, spelled)
    if figure is None:
        figure = _figure(figure_part, deck)
    if figure is not None:
        return card_of(suit, figure)
    number = _number(figure_part)
    if number in (8, 9) or figure_part in _ABSENT_WORDS or (deck is Deck.FRENCH and figure_part == "t"):
        raise CardError("NOT_IN_DECK", f"'{quoted(text)}' is not in the deck of forty cards, which has no 8 and no 9")
    if deck is Deck.FRENCH and 10 <= number <= 13:
        raise CardError(
            "AMBIGUOUS_CARD",
            f"'{quoted(text)}' can be read in two ways, since packs number their court cards differently; "
            "write J, Q or K",
        )
    return None
