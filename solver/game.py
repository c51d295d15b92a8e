"""The game protocol: all that the solver, the command, the service and the report know about a game.

A game is a folder and one registry line. It supplies its rulesets, the one gate through which its positions pass,
the exact values of the legal actions, an order among equals, and a description fit for people. Everything above this
module is written against :class:`Game` and :class:`Position` and never looks further down.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from arrastre import notation
from arrastre.cards import quoted
from arrastre.errors import Fault, InvalidPosition, InvalidRequest, InvalidRules, InvalidSyntax

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Want = Literal["all", "best", "value"]
View = Literal["clairvoyant", "informed"]
Beyond = Literal["own row", "base row"]
DEFAULT_RULESET = "aragones"
DEFAULT_NODES = 50_000_000


@dataclass(frozen=True, slots=True)
class Action:
    """Something a seat may do: a card as its deck writes it, ``cante O``, ``cambio``, ``tute`` or ``pass``."""

    action: str
    seat: int

    def to_dict(self) -> dict[str, Any]:
        return {"action": self.action, "seat": self.seat}


@dataclass(frozen=True, slots=True)
class ActionValue:
    """What an action is proven to be worth to the side that acts, in the objective's unit.

    ``lower == upper`` when the value is known exactly.
    """

    action: Action
    lower: int
    upper: int

    @property
    def value(self) -> int | None:
        """The exact value, ``None`` while it is not proven."""
        return self.lower if self.lower == self.upper else None


@dataclass(frozen=True, slots=True)
class Limits:
    """When an exact search stops: after ``nodes`` positions looked at, or ``seconds`` of wall clock.

    A given ``nodes`` starts from a fresh table, so that the same limit always cuts at the same place. ``None`` means
    the default of 50 million for ``nodes`` and no limit for ``seconds``. Where the value alone is wanted, the search
    may also stop once its bounds tell whether it is ``at_least`` so much.
    """

    nodes: int | None = None
    seconds: float | None = None
    at_least: int | None = None


class Values(ABC):
    """The values of one position, as a game's kernel found them; decoded when first looked at."""

    lower: int
    upper: int
    nodes: int
    seconds: float = 0.0

    @property
    @abstractmethod
    def actions(self) -> tuple[ActionValue, ...]:
        """Every legal action of the side whose turn it is, cards first (empty when only the value was wanted)."""

    @property
    def proven(self) -> bool:
        return self.lower == self.upper and all(each.lower == each.upper for each in self.actions)


class NativeContext(ABC):
    """A game kernel's working memory: one transposition table, used by one thread at a time."""

    @abstractmethod
    def stop(self) -> None:
        """Ask the running search, and any that follows, to end at once; may be called from any thread."""

    @abstractmethod
    def resume(self) -> None:
        """Forget a stop that was asked for."""

    @property
    def hits(self) -> int:
        """Positions that were found in the table since it was made; 0 where nobody counts."""
        return 0


@dataclass(frozen=True, slots=True)
class Face:
    """A card as people see it: its text, and which suit's colour it takes (0 oros, 1 copas, 2 espadas, 3 bastos)."""

    text: str
    suit: int


@dataclass(frozen=True, slots=True)
class SeatView:
    """One seat of a diagram. ``name`` is short (``N``); ``hidden`` counts the cards that are not shown."""

    name: str
    side: int
    hand: tuple[Face, ...]
    hidden: int


@dataclass(frozen=True, slots=True)
class Diagram:
    """A position laid out for people, in the language asked for.

    ``seats`` in turn order; ``trick`` pairs the seat with its card; ``stock`` is top first, an unknown card an empty
    face; ``facts`` are labelled lines (trump, score, cantes sung) below the table.
    """

    seats: tuple[SeatView, ...]
    turn: int
    trick: tuple[tuple[int, Face], ...]
    stock: tuple[Face, ...]
    muestra: Face | None
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class RuleRow:
    """A field of a ruleset as ``arrastre rules`` prints it; ``differs`` from the game's default ruleset.

    ``values`` are all that it may be; ``1-10`` stands for a range of numbers.
    """

    field: str
    value: str
    default: str
    differs: bool
    meaning: str
    values: tuple[str, ...] = ()


class Position(ABC):
    """A moment in a deal, checked by its game's gate. Immutable.

    ``Position.parse`` and ``Position.from_dict`` read any registered game's positions and raise
    :class:`~arrastre.errors.ArrastreError` with all faults at once.
    """

    __slots__ = ()
    game: ClassVar[Game]

    @staticmethod
    def parse(text: str) -> Position:
        """Read a position from JSON or from its one-line text form (``docs/notation.md``)."""
        return _gate(notation.read(text))

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Position:
        """Read a position from the JSON form, already parsed."""
        given: object = data
        if not isinstance(given, Mapping):
            fault = Fault("", "NOT_AN_OBJECT", f"a position is an object, not {type(data).__name__}")
            raise InvalidSyntax("this is no position", [fault])
        return _gate(notation.Raw(data))

    @staticmethod
    def from_raw(raw: notation.Raw) -> Position:
        """Put what :func:`arrastre.notation.read` has read, and a caller perhaps changed, through its game's gate."""
        return _gate(raw)

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """The canonical JSON form, every field present."""

    @property
    @abstractmethod
    def seat(self) -> int:
        """The seat to act: who leads or plays next; in a window of declarations, the first seat of its side."""

    @abstractmethod
    def legal_actions(self) -> tuple[Action, ...]:
        """What the side whose turn it is may do now, cards first."""

    @abstractmethod
    def why_not(self, action: str, lang: str = "en") -> str | None:
        """The duty that forbids ``action`` now and the card that causes it, in words; ``None`` when it is legal."""

    @abstractmethod
    def apply(self, action: Action | str) -> Position:
        """The position after ``action``; moments in which nobody can act are passed over.

        Raises :class:`~arrastre.errors.IllegalAction`. A card or declaration that becomes legal after one or more
        ``pass`` is taken to include them.
        """

    @abstractmethod
    def finished(self) -> bool:
        """Whether no card is left to play."""

    @property
    def in_draw(self) -> bool:
        """Whether cards are still to be drawn."""
        return False

    def __str__(self) -> str:
        return notation.write(self.to_dict())

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True, order=True)
class Address:
    """A decision in a recorded deal.

    ``7.2`` is the second card of trick 7. ``7.0.k`` is the k-th decision of the window before trick 7, at which
    somebody declares something or lets a moment pass; ``7.p.k`` the k-th after p cards of the trick, where a game has
    such. ``7.0`` is where that window begins.
    """

    trick: int
    place: int
    k: int = 0

    @staticmethod
    def parse(text: str) -> Address:
        """Read ``7.2``, ``7.0`` or ``7.0.1``. Raises :class:`~arrastre.errors.InvalidRequest`."""
        match = _ADDRESS.fullmatch(text.strip())
        if match is None:
            message = (
                f"'{quoted(text)}' is no address; 7.2 is the second card of trick 7, 7.0.1 the first decision before"
            )
            raise InvalidRequest(message, [Fault("at", "BAD_ADDRESS", message)])
        return Address(int(match[1]), int(match[2]), int(match[3] or 0))

    def __str__(self) -> str:
        return f"{self.trick}.{self.place}.{self.k}" if self.k else f"{self.trick}.{self.place}"


_ADDRESS = re.compile(r"([1-9][0-9]{0,2})\.([0-9]{1,2})(?:\.([1-9][0-9]?))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Step:
    """One action of a recorded deal: where, the game's word for the moment, the position before it, and the action.

    ``breach`` is the rule that the action broke, if it did; the deal went on all the same.
    """

    at: Address
    moment: str
    position: Position
    action: Action
    breach: Fault | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Deal:
    """A recorded deal as its game has read and replayed it. Immutable.

    ``data`` is its canonical JSON form; ``steps`` are everything that was done in it, in order, moments that a side
    let pass included, and ``end`` is the position after the last of them. ``faults`` holds everything wrong with the
    deal; what could be replayed in spite of them has been. ``certain`` says how many of the positions (one before each
    step, and the end) are beyond doubt all the same, ``None`` for all of a deal without faults, and
    none of one with faults.
    ``legal_under`` names the rulesets under which a deal with faults has none. ``goes_on`` says whether it belongs to
    the game of the deal before.
    """

    game: ClassVar[Game]

    number: int
    data: Mapping[str, Any]
    steps: tuple[Step, ...] = ()
    end: Position | None = None
    faults: tuple[Fault, ...] = ()
    legal_under: tuple[str, ...] = ()
    certain: int | None = None
    goes_on: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The deal's canonical JSON form, with all that it shares with the others of its record."""
        return dict(self.data)

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def step(self, at: Address | str) -> Step:
        """What was done at an address. Raises :class:`~arrastre.errors.InvalidRequest`."""
        where = Address.parse(at) if isinstance(at, str) else at
        for step in self.steps:
            if step.at == where:
                return step
        raise self._nothing_at(where)

    def position(self, at: Address | str) -> Position:
        """The position before what was done at an address, or that an unfinished deal has reached.

        ``7.0`` is the position in which the window before trick 7 begins. A decision numbered one more than those
        that were taken is the position in which the next card was played. Raises
        :class:`~arrastre.errors.InvalidRequest`.
        """
        where = Address.parse(at) if isinstance(at, str) else at
        place = self._place(where)
        if place is None:
            raise self._nothing_at(where)
        if place < len(self.steps):
            return self.steps[place].position
        assert self.end is not None
        return self.end

    def is_certain(self, at: Address | str) -> bool:
        """Whether the position at an address is beyond doubt, whatever is wrong with the deal.

        Where there is no such address, that is certain if the whole deal is.
        """
        if not self.faults:
            return True
        place = self._place(Address.parse(at) if isinstance(at, str) else at)
        return (len(self.steps) if place is None else place) < self.certain_positions

    @property
    def certain_positions(self) -> int:
        """How many of the positions, one before each step and the end, are beyond doubt."""
        if self.certain is not None:
            return self.certain
        return 0 if self.faults else len(self.steps) + 1

    def _place(self, where: Address) -> int | None:
        """The number of the position that an address means: that of a step, or one more for the end."""
        last: Address | None = None
        for place, step in enumerate(self.steps):
            here = step.at
            if here == where or (where.place == 0 == where.k and here.trick == where.trick):
                return place
            if self._follows(last, here, where):
                return place
            last = here
        if self.end is not None and not self.end.finished() and self._is_next(last, where):
            return len(self.steps)
        return None

    @staticmethod
    def _follows(last: Address | None, here: Address, where: Address) -> bool:
        """Whether ``where`` is the decision after ``last``, of those before the card played at ``here``."""
        if not where.k or here.k or (here.trick, here.place) != (where.trick, where.place + 1):
            return False
        taken = last.k if last is not None and (last.trick, last.place) == (where.trick, where.place) else 0
        return where.k == taken + 1

    def _is_next(self, last: Address | None, where: Address) -> bool:
        """Whether ``where`` is the decision to be taken after the last one of an unfinished deal."""
        if last is None:
            return where in (Address(1, 0), Address(1, 0, 1), Address(1, 1))
        if last.k:
            nexts = {Address(last.trick, last.place, last.k + 1), Address(last.trick, last.place + 1)}
        else:
            nexts = {Address(last.trick, last.place + 1), Address(last.trick, last.place, 1)}
            after = self.end
            if after is not None and self.game.trick_won(self.steps[-1].position, after) is not None:
                trick = last.trick + 1
                nexts = {Address(trick, 0), Address(trick, 0, 1), Address(trick, 1)}
        return where in nexts

    def _nothing_at(self, where: Address) -> InvalidRequest:
        message = f"deal {self.number} has nothing at {where}"
        if self.steps:
            message += f"; it goes from {self.steps[0].at} to {self.steps[-1].at}"
        return InvalidRequest(message, [Fault("at", "NO_SUCH_MOMENT", message)])


@dataclass(frozen=True, slots=True)
class Place:
    """Somewhere that unseen cards may lie: the hand of ``seat``, the stock's card number ``index`` from the top, or
    ``out`` of the deal, where rules leave cards undealt.

    A hand may have several places, each for the cards that it got in one span of the deal. ``capacity`` is how many
    of the unseen cards lie there, in every world.
    """

    kind: Literal["hand", "stock", "out"]
    seat: int
    index: int
    capacity: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Knowledge(ABC):
    """What one seat can know at one moment, and what it may do then.

    ``position`` is the moment as the seat sees it. ``items`` are the cards whose place it does not know, ``places``
    where they may be, and ``allowed[i]`` a bit for each place that item i may be in. A *world* gives every item a
    place, each place as many items as its capacity. Of items marked in ``played`` everybody knows where they are, or
    that they have been played; what is not known of them is in which span of the deal their owner got them.
    ``actions`` are what the seat may do, in the order in which equals are ranked, ``pass`` included where the moment
    may end without a card.
    """

    seat: int
    position: Position
    items: tuple[str, ...]
    played: tuple[bool, ...]
    places: tuple[Place, ...]
    allowed: tuple[int, ...]
    actions: tuple[Action, ...]

    @abstractmethod
    def world(self, assignment: Sequence[int]) -> Position:
        """The position with every card known, item i being in place ``assignment[i]``."""

    def under(self, objective: str) -> Knowledge:  # noqa: ARG002
        """The same with the actions that there are under an objective."""
        return self


@dataclass(frozen=True, slots=True)
class Part:
    """One of the things that values are made of, for words that explain: its name in each language, and what it adds
    to the margin of the acting side; ``values`` has the shape (worlds, actions)."""

    names: Mapping[str, str]
    values: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Table:
    """Something to be laid out for people: the columns' heads, and rows of as many texts."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Score(ABC):
    """What the deals of a record add up to."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""

    @abstractmethod
    def tables(self, lang: str) -> tuple[Table, ...]:
        """The score laid out for people."""


class Game(ABC):
    """What a game must supply. Registered once, with :func:`register`."""

    name: str
    rulesets: tuple[str, ...]
    objectives: tuple[str, ...]

    @abstractmethod
    def position(self, raw: notation.Raw) -> Position:
        """The one gate from raw input to a position; raises with every fault it finds."""

    @abstractmethod
    def context(self, memory_mb: int) -> NativeContext:
        """Working memory of at most ``memory_mb`` MiB for :meth:`values`."""

    @abstractmethod
    def obstacles(self, position: Position, objective: str) -> tuple[Fault, ...]:
        """What keeps a sound position from being solved exactly: cards unseen, the deal or the game over."""

    @abstractmethod
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
        """Exact values, from the acting side's point of view, of positions without
        :meth:`obstacles`.

        ``fresh`` forgets what the table holds before each position.
        """

    @abstractmethod
    def knowledge(self, position: Position, seat: int) -> Knowledge:
        """What ``seat`` can know in a position, from its unseen and excluded cards alone; a position with every card
        known is stripped of what the seat cannot see.

        Raises :class:`~arrastre.errors.InvalidRequest` where the seat has nothing to decide or does not exist.
        """

    @abstractmethod
    def knowledge_at(self, deal: Deal, at: Address, seat: int | None) -> Knowledge:
        """What ``seat`` (the one to act unless given) can know at a moment of a recorded deal from all that happened
        in it before. Raises :class:`~arrastre.errors.InvalidRequest`.
        """

    @abstractmethod
    def revealed(self, position: Position, seat: int, *, stock: bool) -> Knowledge:
        """What ``seat`` would know, and may do, if all hands of a position with every card known lay open; and the
        stock as well if ``stock``, so that there is but one world. ``actions`` are empty where it has nothing to
        decide.
        """

    @abstractmethod
    def within(self, position: Position, nodes: int) -> bool:
        """Whether an exact search through all cards of a position is reckoned to cost no more than ``nodes``; the
        ``clairvoyant`` view is then exact under that limit."""

    @abstractmethod
    def policy(self, position: Position, seat: int) -> Action:
        """What ``seat`` does in the playouts of the ``informed`` view, from what it can see: a declaration, a card, or
        a pass where nothing is due from it."""

    @abstractmethod
    def average(self, position: Position) -> float:
        """The mean final margin of side 0 over all deals under the rules of a position in which the same seat leads
        first, everybody playing as in the ``informed`` view."""

    @abstractmethod
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
        """The value of each action in each world, for the side of ``knowledge.seat``; shape (worlds, actions).

        ``worlds[k, i]`` is the place of item i in world k; ``complete`` says that these are all worlds there are.
        Values are final margins in points under ``points``, probabilities of winning the game, 0…1, under ``game``.
        ``limits.nodes`` is the work that one row of ``worlds`` may cost. Rows that were not reached because of a
        stop or a deadline are NaN. A row depends on nothing but its world and the arguments, whatever other rows
        there are, unless ``complete``.
        """

    @abstractmethod
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
        """What the values under ``points`` come from; nothing where the game cannot tell.

        Rows that a stop or a deadline cut off are left out.
        """

    @abstractmethod
    def tie_key(self, position: Position, action: Action) -> tuple[int, ...]:
        """Sort key of an action among actions of equal value: the smallest is *the* answer."""

    def unseen_key(self, position: Position, card: str) -> tuple[int, ...]:
        """Sort key of an unseen card among others: first those whose place matters most. By their worth, the best
        first, unless a game knows more."""
        return tuple(-each for each in self.tie_key(position, Action(card, position.seat)))

    def beyond(self, position: Position, objective: str) -> Beyond | None:  # noqa: ARG002
        """Which chances an estimate under ``objective`` takes for what comes after the deal; ``None`` where it needs
        none. ``"base row"``: measured for the named ruleset, and some fields of the rules are overridden."""
        return None

    @abstractmethod
    def outcome(self, position: Position, objective: str, value: int, end: Callable[[], Position]) -> str | None:
        """The word for a proven value where the objective has outcomes, else ``None``.

        ``end`` plays the line of best play out, for games in which one value has several words.
        """

    @abstractmethod
    def trick_won(self, before: Position, after: Position) -> tuple[int, int] | None:
        """If a trick was completed between the two positions: the seat that took it and the points in it."""

    @abstractmethod
    def describe(self, position: Position, lang: str) -> Diagram:
        """The position laid out for people."""

    @abstractmethod
    def face(self, position: Position, action: Action, lang: str) -> Face:
        """An action as people read it, with its suit's colour (suit −1: none)."""

    @abstractmethod
    def rules(self, name: str, overrides: Mapping[str, Any], players: int, lang: str) -> tuple[RuleRow, ...]:
        """A ruleset as a table. Raises :class:`~arrastre.errors.InvalidRules`."""

    @abstractmethod
    def replay(self, raw: notation.Raw, previous: Deal | None) -> Deal:
        """Read a recorded deal (``docs/notation.md``), check it and replay it; all its faults are in the answer.

        ``previous`` is the deal before it in the same record, from which scores and the dealer carry over.
        """

    @abstractmethod
    def readings(self, raw: notation.Raw) -> Iterator[notation.Raw]:
        """A recorded deal under each named ruleset of the game, the overrides that it gives kept."""

    @abstractmethod
    def score(self, deals: Sequence[Deal]) -> Score:
        """What the deals of one record add up to."""


_by_ruleset: dict[str, Game] = {}


def register(game: Game) -> None:
    """Make a game's rulesets known. A name can be taken once."""
    for name in game.rulesets:
        if _by_ruleset.get(name, game) is not game:
            raise ValueError(f"ruleset {name!r} is registered already")
    for name in game.rulesets:
        _by_ruleset[name] = game


def unregister(game: Game) -> None:
    """Forget a game (tests register games of their own)."""
    for name in game.rulesets:
        _by_ruleset.pop(name, None)


def rulesets() -> tuple[str, ...]:
    """The names of all rulesets, in the order in which they were registered."""
    return tuple(_by_ruleset)


def game_of(ruleset: str) -> Game:
    """The game that a named ruleset belongs to. Raises :class:`~arrastre.errors.InvalidRules`."""
    try:
        return _by_ruleset[ruleset]
    except KeyError:
        known = ", ".join(_by_ruleset)
        raise InvalidRules(
            f"there is no ruleset {ruleset!r}",
            [Fault("ruleset", "UNKNOWN_RULESET", f"no ruleset {ruleset!r}; there are {known}")],
        ) from None


def _gate(raw: notation.Raw) -> Position:
    name = raw.data.get("ruleset", DEFAULT_RULESET)
    try:
        if not isinstance(name, str):
            raise InvalidRules("", [Fault("ruleset", "BAD_TYPE", "a ruleset is a name")])
        game = game_of(name)
    except InvalidRules as error:
        faults = [raw.fault(fault.field, fault.reason, fault.message) for fault in error.faults]
    else:
        return game.position(raw)
    # Read under the default rules, the item may show what else is wrong with it.
    rest = replace(raw, data={key: value for key, value in raw.data.items() if key != "ruleset"})
    try:
        game_of(DEFAULT_RULESET).position(rest)
    except InvalidPosition as error:
        faults += error.faults
    raise InvalidPosition("the position has faults", faults)
