"""Spellings of cards and suits, in both decks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arrastre import cards
from arrastre.cards import CardError, Deck, card_symbol, card_text, parse_card, parse_suit, quoted, suit_text

DECKS = list(Deck)


@pytest.mark.parametrize("deck", DECKS)
def test_every_card_round_trips(deck: Deck) -> None:
    texts = [card_text(card, deck) for card in range(cards.CARDS)]
    assert len(set(texts)) == cards.CARDS
    assert [parse_card(text, deck) for text in texts] == list(range(cards.CARDS))
    assert [parse_card(text.lower(), deck) for text in texts] == list(range(cards.CARDS))
    assert [parse_card(text[::-1], deck) for text in texts] == list(range(cards.CARDS))
    assert [parse_card(card_symbol(card, deck), deck) for card in range(cards.CARDS)] == list(range(cards.CARDS))


def test_numbering() -> None:
    assert [card_text(card, Deck.SPANISH) for card in (0, 9, 10, 27, 38, 39)] == ["1O", "RO", "1C", "SE", "CB", "RB"]
    assert [card_text(card, Deck.FRENCH) for card in (0, 9, 10, 27, 38, 39)] == ["AD", "KD", "AH", "JS", "QC", "KC"]
    assert card_text(cards.UNKNOWN, Deck.SPANISH) == card_symbol(cards.UNKNOWN, Deck.FRENCH) == "?"
    assert card_symbol(8, Deck.FRENCH) == "Q♦"
    assert card_symbol(8, Deck.SPANISH) == "CO"


@pytest.mark.parametrize(
    ("text", "card"),
    [
        ("oros_7", "7O"),
        ("7_oros", "7O"),
        ("O7", "7O"),
        ("O07", "7O"),
        ("07O", "7O"),
        ("7o", "7O"),
        (" 7O ", "7O"),
        ("7 O", "7O"),
        ("7-oros", "7O"),
        ("7oros", "7O"),
        ("oros7", "7O"),
        ("7 de oros", "7O"),
        ("siete de Oros", "7O"),
        ("as de copas", "1C"),
        ("AS DE COPAS", "1C"),
        ("dos de bastos", "2B"),
        ("sota de espadas", "SE"),
        ("caballo de copas", "CC"),
        ("rey de bastos", "RB"),
        ("basto rey", "RB"),
        ("10C", "SC"),
        ("11C", "CC"),
        ("12O", "RO"),
        ("O12", "RO"),
        ("12 de oros", "RO"),
        ("espadas_12", "RE"),
        ("EC", "CE"),
        ("CS", "SC"),
        ("7♦", "7O"),
        ("♥1", "1C"),
    ],
)
def test_spanish_spellings(text: str, card: str) -> None:
    assert card_text(parse_card(text, Deck.SPANISH), Deck.SPANISH) == card


@pytest.mark.parametrize(
    ("text", "card"),
    [
        ("A♠", "AS"),
        ("A♠\ufe0f", "AS"),
        ("♠A", "AS"),
        ("qh", "QH"),
        ("7D", "7D"),
        ("1S", "AS"),
        ("D07", "7D"),
        ("queen of hearts", "QH"),
        ("Ace of Clubs", "AC"),
        ("jack_diamonds", "JD"),
        ("dama de corazones", "QH"),
        ("7 de tréboles", "7C"),
        ("rey de bastos", "KC"),
        ("12 de oros", "KD"),
        ("sota de copas", "JH"),
    ],
)
def test_french_spellings(text: str, card: str) -> None:
    assert card_text(parse_card(text, Deck.FRENCH), Deck.FRENCH) == card


def test_the_deck_decides_what_7c_is() -> None:
    assert cards.suit_of(parse_card("7C", Deck.SPANISH)) == cards.COPAS
    assert cards.suit_of(parse_card("7C", Deck.FRENCH)) == cards.BASTOS


@pytest.mark.parametrize(
    ("text", "deck", "reason"),
    [
        ("8O", Deck.SPANISH, "NOT_IN_DECK"),
        ("9 de copas", Deck.SPANISH, "NOT_IN_DECK"),
        ("ocho de oros", Deck.SPANISH, "NOT_IN_DECK"),
        ("8♠", Deck.FRENCH, "NOT_IN_DECK"),
        ("TS", Deck.FRENCH, "NOT_IN_DECK"),
        ("10S", Deck.FRENCH, "AMBIGUOUS_CARD"),
        ("11H", Deck.FRENCH, "AMBIGUOUS_CARD"),
        ("D12", Deck.FRENCH, "AMBIGUOUS_CARD"),
        ("13♣", Deck.FRENCH, "AMBIGUOUS_CARD"),
        ("13O", Deck.SPANISH, "UNKNOWN_CARD"),
        ("0O", Deck.SPANISH, "UNKNOWN_CARD"),
        ("AS", Deck.SPANISH, "UNKNOWN_CARD"),
        ("SC", Deck.FRENCH, "UNKNOWN_CARD"),
        ("7O", Deck.FRENCH, "UNKNOWN_CARD"),
        ("7", Deck.SPANISH, "UNKNOWN_CARD"),
        ("", Deck.SPANISH, "UNKNOWN_CARD"),
        ("?", Deck.SPANISH, "UNKNOWN_CARD"),
        ("7OO", Deck.SPANISH, "UNKNOWN_CARD"),
        ("٧O", Deck.SPANISH, "UNKNOWN_CARD"),
        ("7" * 5000 + "O", Deck.SPANISH, "UNKNOWN_CARD"),
    ],
)
def test_refused(text: str, deck: Deck, reason: str) -> None:
    with pytest.raises(CardError) as refusal:
        parse_card(text, deck)
    assert refusal.value.reason == reason
    assert len(refusal.value.message) < 300


def test_a_card_of_the_other_deck_is_recognised() -> None:
    with pytest.raises(CardError, match="deck=french"):
        parse_card("QH", Deck.SPANISH)
    with pytest.raises(CardError, match="deck=spanish"):
        parse_card("RO", Deck.FRENCH)


@pytest.mark.parametrize("deck", DECKS)
def test_suits(deck: Deck) -> None:
    for suit, (symbol, name) in enumerate(zip("♦♥♠♣", ("oros", "Copas", "espada", "BASTOS"), strict=True)):
        for text in (suit_text(suit, deck), suit_text(suit, deck).lower(), symbol, name, f" {name} "):
            assert parse_suit(text, deck) == suit
    for text in ("", "X", "oros de oros", "O" * 1000):
        with pytest.raises(CardError) as refusal:
            parse_suit(text, deck)
        assert refusal.value.reason == "UNKNOWN_SUIT"


def test_suit_names_by_deck() -> None:
    assert [parse_suit(text, Deck.FRENCH) for text in ("S", "diamonds", "corazones", "trébol")] == [2, 0, 1, 3]
    assert [cards.suit_name(3, deck, lang) for deck in DECKS for lang in ("en", "es")] == [
        "bastos",
        "bastos",
        "clubs",
        "tréboles",
    ]


@given(st.text(max_size=60), st.sampled_from(DECKS))
def test_anything_is_a_card_or_a_card_error(text: str, deck: Deck) -> None:
    refused: CardError | None = None
    try:
        card = parse_card(text, deck)
    except CardError as error:
        refused = error
    if refused is None:
        assert card in range(cards.CARDS)
    else:
        assert refused.reason in {"UNKNOWN_CARD", "AMBIGUOUS_CARD", "NOT_IN_DECK"}
        assert refused.message.isprintable()


@given(st.text(max_size=200))
def test_quoted_is_short_and_harmless(text: str) -> None:
    shown = quoted(text)
    assert shown.isprintable()
    shown.encode()
