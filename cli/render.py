"""What people see: positions laid out around the table, answers as tables, faults in sentences.

Everything is rendered into one string for each item, so that an item is written whole or not at all. Games are known
here only by what ``arrastre.game`` says of them.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from typing import Final, TextIO

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.text import Text as Line

from arrastre.cli.items import Item
from arrastre.cli.text import Text
from arrastre.errors import ArrastreError, Fault
from arrastre.exact import Solution
from arrastre.game import Action, Diagram, Face, Position, RuleRow

WIDTH: Final = 80
_WIDEST: Final = 100
_MARGIN: Final = 2

_SUIT_STYLES: Final = ("yellow", "red", "bright_blue", "green")
_TURN: Final = "◂"
_BEST: Final = "▸"
_EMPTY: Final = "–"
_UNSEEN: Final = "?"

_SPOTS: Final[dict[int, tuple[str, ...]]] = {
    1: ("bottom",),
    2: ("top", "left"),
    3: ("top", "left", "right"),
    4: ("top", "left", "bottom", "right"),
}
"""Where seats sit, in turn order, by how many there are: turns go round against the clock, N at the top."""


class Renderer:
    """Renders for one stream, whose width and colours it finds out (``NO_COLOR`` and pipes: none)."""

    def __init__(self, stream: TextIO | None, text: Text) -> None:
        self.text = text
        self._console = Console(file=stream or io.StringIO(), highlight=False, markup=False, emoji=False)
        self._width = max(40, min(self._console.width, _WIDEST)) if self._console.is_terminal else WIDTH
        self._console.width = self._width
        # Without colours a line is its text: what rich would do to it takes most of the time of an answer.
        self._colourless = self._console.color_system is None

    # Whole items.

    def position(self, item: Item, position: Position) -> str:
        """A position and what may be done in it."""
        diagram = position.game.describe(position, self.text.lang)
        parts = [
            *self._heading(item),
            *self._table(diagram),
            Line(),
            *self._facts(diagram, self._legal(position, diagram)),
        ]
        return self._string([*parts, Line()]) + self._unfolded(str(position))

    def solution(self, item: Item, solution: Solution, seconds: float | None) -> str:
        """A position, what its actions are worth, and how it goes on."""
        position = solution.position
        diagram = position.game.describe(position, self.text.lang)
        parts = [*self._heading(item), *self._table(diagram), Line(), *self._facts(diagram, []), Line()]
        parts += self._verdict(solution, diagram)
        if solution.actions:
            parts += [Line(), *self._values(solution, diagram)]
        if not solution.proven:
            parts += [Line(), *self._unproven(solution)]
        if solution.line:
            parts += [Line(), Line(self.text("solve.line"), "bold"), *self._line(solution)]
        if seconds is not None:
            stats = self.text("solve.stats", nodes=self.text.number(solution.nodes), seconds=f"{seconds:.4f}")
            parts += [Line(), Line(stats, "dim")]
        return self._string(parts)

    def error(self, item: Item, error: ArrastreError) -> str:
        """What is wrong with an item, every fault on a line of its own."""
        place = _plain(item.place) or self.text("fault.item") + f" {item.index + 1}"
        said = _plain(self.text.error(error))
        faults = list(error.faults)
        if len(faults) == 1 and self._what(faults[0]) in said:
            place = ": ".join(filter(None, [place, self._where(faults.pop(), item.line)]))
        lines: list[RenderableType] = [Line.assemble((f"{place}: ", "bold"), said)]
        for fault in faults:
            where = self._where(fault, item.line)
            line = Line.assemble((where, "bold"), ": " if where else "", self._what(fault))
            lines.append(Padding(line, (0, 0, 0, _MARGIN)))
        return self._string(lines)

    def ruleset(self, name: str, players: int, rows: Sequence[RuleRow]) -> str:
        """A ruleset, what differs from the default marked."""
        say = self.text
        columns = [
            [say(f"rules.{name}"), *(getattr(row, name) for row in rows)] for name in ("field", "value", "default")
        ]
        widths = [max(map(cell_len, map(_plain, column))) + 2 for column in columns]
        parts: list[RenderableType] = [Line(say("rules.title", name=_plain(name), players=players), "bold"), Line()]
        for number, cells in enumerate(zip(*columns, strict=True)):
            row = rows[number - 1] if number else None
            style = "dim" if row is None else "bold yellow" if row.differs else ""
            mark = "* " if row is not None and row.differs else "  "
            parts.append(Line(mark + "".join(map(_padded, map(_plain, cells), widths)), style))
            if row is not None:
                parts.append(Padding(Line(_plain(row.meaning), "dim"), (0, 0, 0, 6)))
                if row.values:
                    values = say("rules.values", values=say.either(row.values))
                    parts.append(Padding(Line(_plain(values), "dim"), (0, 0, 0, 6)))
        return self._string(parts)

    def rulesets(self, rulesets: Sequence[tuple[str, Sequence[RuleRow]]]) -> str:
        """All rulesets, each with what makes it different."""
        say = self.text
        table = [[Line(say("rules.name"), "bold"), Line(say("rules.differs"), "bold")]]
        for name, rows in rulesets:
            differs = ", ".join(f"{row.field} {row.value}" for row in rows if row.differs)
            table.append([Line(_plain(name), "bold"), Line(_plain(differs) or say("rules.is_default"))])
        return self._string(self._grid(table, gap=2))

    # Parts of items.

    def _string(self, parts: Iterable[RenderableType]) -> str:
        rendered: list[str] = []
        for part in parts:
            if self._colourless and isinstance(part, Line) and part.cell_len <= self._width:
                rendered.append(part.plain)
                continue
            with self._console.capture() as capture:
                self._console.print(part)
            rendered += capture.get().splitlines()
        return "".join(line.rstrip() + "\n" for line in rendered)

    def _unfolded(self, line: str) -> str:
        """A line that is not folded, since people copy it."""
        if self._colourless:
            return _plain(line) + "\n"
        with self._console.capture() as capture:
            self._console.print(Line(_plain(line), "dim"), soft_wrap=True)
        return capture.get()

    def _heading(self, item: Item) -> list[RenderableType]:
        parts: list[RenderableType] = []
        if item.place:
            parts.append(Line(f"── {_plain(item.place)} ──", "dim"))
        parts += [Line(_plain(note), "italic") for note in item.notes]
        return [*parts, Line()] if parts else []

    def _table(self, diagram: Diagram) -> list[Line]:
        """The hands around the table, with the trick on it."""
        spots = _SPOTS.get(len(diagram.seats))
        blocks = [self._hand(diagram, seat) for seat in range(len(diagram.seats))]
        if spots is None:
            return [row for block in blocks for row in block] + [self._trick_row(diagram)]
        placed = {spot: blocks[seat] for seat, spot in enumerate(spots)}
        trick = {spots[seat]: face for seat, face in diagram.trick}
        left, right = placed.get("left", []), placed.get("right", [])
        middle = _felt(trick)
        # Top and bottom stand in the middle column, which their longest suit may widen.
        top, bottom = placed.get("top", []), placed.get("bottom", [])
        sides = max((row.cell_len for row in [*left, *right]), default=0)
        sides = max(sides, 14) if left or right else 14
        core = max((row.cell_len for row in [*middle, *top, *bottom]), default=0)
        middle = _inset(middle, core)
        return [
            *(_joined(sides, Line(), core, row, Line()) for row in _inset(top, core, bottom)),
            *(
                _joined(sides, a, core, b, c)
                for a, b, c in _side_by_side(_centred(left, len(middle)), middle, _centred(right, len(middle)))
            ),
            *(_joined(sides, Line(), core, row, Line()) for row in _inset(bottom, core, top)),
        ]

    def _hand(self, diagram: Diagram, seat: int) -> list[Line]:
        """A seat's name, then its cards, a line for each suit."""
        view = diagram.seats[seat]
        turn = seat == diagram.turn
        rows = [Line.assemble((_plain(view.name), "bold"), (f" {_TURN}" if turn else "", "bold magenta"))]
        suit: int | None = None
        for face in view.hand:
            if suit is None or face.suit != suit:
                rows.append(Line())
                suit = face.suit
            else:
                rows[-1].append(" ")
            rows[-1].append_text(_face(face))
        if view.hidden:
            rows.append(Line(" ".join([_UNSEEN] * view.hidden), "dim"))
        if len(rows) == 1:
            rows.append(Line(_EMPTY, "dim"))
        return rows

    def _trick_row(self, diagram: Diagram) -> Line:
        row = Line()
        for seat, face in diagram.trick:
            row.append_text(Line.assemble(("  " if row else "") + _plain(diagram.seats[seat].name) + " ", _face(face)))
        return row

    def _facts(self, diagram: Diagram, more: Iterable[tuple[str, Line]]) -> list[Line]:
        rows: list[tuple[str, Line]] = []
        if diagram.muestra is not None:
            rows.append((self.text("show.muestra"), _face(diagram.muestra)))
        if diagram.stock:
            stock = Line(f"{len(diagram.stock)}: ")
            for place, face in enumerate(diagram.stock):
                stock.append(" " if place else "")
                stock.append_text(_face(face) if face.text else Line(_UNSEEN, "dim"))
            rows.append((self.text("show.stock"), stock))
        rows += [(_plain(label), Line(_plain(value))) for label, value in diagram.facts]
        rows += more
        return self._grid([[Line(label, "dim"), line] for label, line in rows], gap=2)

    def _grid(self, rows: Sequence[Sequence[Line]], gap: int, right: Sequence[int] = (), indent: int = 0) -> list[Line]:
        """Rows in columns, those in ``right`` flush right; the last column is folded where there is no room for it."""
        if not rows:
            return []
        widths = [max(cell.cell_len for cell in column) for column in zip(*rows, strict=True)]
        last = len(widths) - 1
        start = indent + sum(width + gap for width in widths[:last])
        room = max(20, self._width - start)
        lines: list[Line] = []
        for row in rows:
            line = Line(" " * indent)
            for place, cell in enumerate(row):
                blank = " " * (widths[place] - cell.cell_len)
                if place in right:
                    line.append(blank)
                if place == last and cell.cell_len > room:
                    first, *folded = cell.wrap(self._console, room)
                    lines.append(line.append_text(first))
                    lines += [Line(" " * start).append_text(each) for each in folded]
                    break
                line.append_text(cell)
                if place < last:
                    line.append(" " * gap if place in right else blank + " " * gap)
            else:
                lines.append(line)
        return lines

    def _legal(self, position: Position, diagram: Diagram) -> list[tuple[str, Line]]:
        """What may be done, and for the cards in hand that may not be played, the duty that forbids them."""
        say = self.text
        if position.finished():
            return [(say("show.legal"), Line(say("show.over")))]
        actions = position.legal_actions()
        legal = Line()
        for action in actions:
            legal.append("  " if legal else "")
            legal.append_text(self._action(position, action))
            if action.seat != diagram.turn:
                legal.append(f" ({_plain(diagram.seats[action.seat].name)})", "dim")
        rows = [(say("show.turn"), Line(_plain(diagram.seats[diagram.turn].name), "bold")), (say("show.legal"), legal)]
        forbidden: dict[str, list[Line]] = {}
        for face in diagram.seats[diagram.turn].hand:
            why = position.why_not(face.text, say.lang)
            if why is not None:
                forbidden.setdefault(_plain(why), []).append(_face(face))
        for why, faces in forbidden.items():
            label = say("show.forbidden") if len(rows) == 2 else ""
            rows.append((label, Line(" ").join(faces).append(f"  {why}")))
        return rows

    def _action(self, position: Position, action: Action) -> Line:
        return _face(position.game.face(position, action, self.text.lang))

    def _verdict(self, solution: Solution, diagram: Diagram) -> list[RenderableType]:
        """Who wins, and by how much, in words; then the best actions."""
        say, position = self.text, solution.position
        side = _side(diagram, diagram.seats[solution.seat].side)
        outcome = solution.outcome
        if solution.lower != solution.upper:
            key = "between" if self._word(solution, 0) is None else "between_outcomes"
            bounds = {name: self._value(solution, getattr(solution, name)) for name in ("lower", "upper")}
            sentence = say(f"solve.{key}", side=side, **bounds)
        elif outcome is not None:
            sentence = say.outcome(outcome, side)
        else:
            margin = solution.lower
            rivals = {view.side for view in diagram.seats} - {diagram.seats[solution.seat].side}
            if margin < 0 and len(rivals) == 1:
                margin, side = -margin, _side(diagram, rivals.pop())
            key = "wins_by" if margin > 0 else "loses_by" if margin < 0 else "equal"
            sentence = say(f"solve.{key}", side=side, points=say.points(abs(margin)))
        lines: list[RenderableType] = [Line(sentence, "bold")]
        if solution.best:
            best = Line(", ").join(
                Line.assemble(self._action(position, action), f" ({_plain(diagram.seats[action.seat].name)})")
                for action in solution.best
            )
            before, _, after = say("solve.best", actions="\0").partition("\0")
            lines.append(Line.assemble(before, best, after))
        return lines

    def _unproven(self, solution: Solution) -> list[Line]:
        """What a search that was cut short has proven, what it has not, and how to go on."""
        say = self.text
        exact = sum(each.lower == each.upper for each in solution.actions)
        parts = [say("solve.cut")]
        if solution.lower == solution.upper:
            parts.append(say("solve.cut.value"))
        if solution.actions and solution.want == "all":
            parts.append(say("solve.cut.actions", exact=exact, count=len(solution.actions)))
        return [Line(" ".join([*parts, say("solve.cut.more")]))]

    def _value(self, solution: Solution, value: int) -> str:
        """A value as people read it: a margin with its sign, or the outcome's word."""
        word = self._word(solution, value)
        return f"{value:+d}".replace("-", "−") if word is None else self.text.outcome_short(word)

    def _word(self, solution: Solution, value: int) -> str | None:
        """The word for a bound, if the objective has words: how play would end there is not known."""
        position = solution.position
        return position.game.outcome(position, solution.objective, value, lambda: position)

    def _values(self, solution: Solution, diagram: Diagram) -> list[Line]:
        """Every action with its value, the best first."""
        say, position = self.text, solution.position
        game = position.game
        words = self._word(solution, 0) is not None
        losses = solution.proven and not words
        heads = [" ", say("solve.action"), say("solve.seat"), say("solve.outcome" if words else "solve.value")]
        heads += [say("solve.difference")] * losses
        rows = [[Line(head, "dim") for head in heads]]
        best = set(solution.best)
        top = max(value.lower for value in solution.actions)
        order = sorted(solution.actions, key=lambda v: (-v.lower, -v.upper, game.tie_key(position, v.action)))
        for each in order:
            exact = each.lower == each.upper
            outcome = solution.outcome_of(each)
            shown = self._value(solution, each.lower) if outcome is None else say.outcome_short(outcome)
            if not exact and solution.want == "best":
                shown = f"≤ {self._value(solution, each.upper)}"
            elif not exact:
                shown += f" … {self._value(solution, each.upper)}"
            is_best = each.action in best
            style = "bold" if is_best else ""
            row = [
                Line(_BEST if is_best else "", "bold"),
                self._action(position, each.action),
                Line(_plain(diagram.seats[each.action.seat].name)),
                Line(shown, style),
            ]
            if losses:
                loss = top - each.lower
                row.append(Line(f"−{loss}" if exact and loss else "", "dim"))
            rows.append(row)
        return self._grid(rows, gap=3, right=() if words else (3, 4), indent=_MARGIN)

    def _line(self, solution: Solution) -> list[Line]:
        """Best play, a row for each trick, with who takes it and what is in it; declarations on rows of their own."""
        say, position = self.text, solution.position
        game = position.game
        diagram = game.describe(position, say.lang)
        rows: list[list[Line]] = []
        number = 1
        seats = [_plain(view.name) for view in diagram.seats]
        # Who plays a card, and the card: what lies on the table when the line begins is shown in brackets.
        trick: list[tuple[int, Line]] = [(seat, Line.assemble("(", _face(face), ")")) for seat, face in diagram.trick]
        for step in solution.line:
            action = Action(step.action, step.seat)
            face = self._action(position, action)
            position = position.apply(action)
            after = game.describe(position, say.lang)
            if step.winner is not None:
                trick.append((step.seat, face))
                row = Line("  ").join(
                    Line.assemble((seats[seat] + " ", "bold" if seat == step.winner else "dim"), card)
                    for seat, card in trick
                )
                points = "" if step.points is None else f" +{step.points}"
                rows.append(
                    [Line(f"{number}.", "dim"), row, Line.assemble("→ ", (seats[step.winner] + points, "bold"))]
                )
                number += 1
                trick = []
            elif len(after.trick) > len(diagram.trick):
                trick.append((step.seat, face))
            else:
                rows.append([Line(), Line.assemble((seats[step.seat] + " ", "dim"), face), Line()])
            diagram = after
        if trick:
            row = Line("  ").join(Line.assemble((seats[seat] + " ", "dim"), card) for seat, card in trick)
            rows.append([Line(f"{number}.", "dim"), row, Line()])
        return self._grid(rows, gap=2, right=(0,), indent=_MARGIN)

    # Faults.

    def _where(self, fault: Fault, line: int) -> str:
        parts = [_plain(fault.field)] if fault.field else []
        if fault.line not in (None, line):
            parts.append(self.text("fault.line", line=fault.line))
        if fault.column is not None:
            parts.append(self.text("fault.column", column=fault.column))
        return ", ".join(parts)

    def _what(self, fault: Fault) -> str:
        sentence = _plain(self.text.fault(fault))
        return sentence if fault.card is None or fault.card in sentence else f"{_plain(fault.card)}: {sentence}"


def _plain(text: str) -> str:
    """Somebody's text with nothing in it that a terminal obeys."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def _padded(text: str, width: int) -> str:
    return text + " " * (width - cell_len(text))


def _face(face: Face) -> Line:
    style = _SUIT_STYLES[face.suit] if 0 <= face.suit < len(_SUIT_STYLES) else ""
    return Line(_plain(face.text), style)


def _side(diagram: Diagram, side: int) -> str:
    names = [_plain(view.name) for view in diagram.seats if view.side == side]
    return ("" if all(len(name) == 1 for name in names) else "-").join(names)


def _felt(trick: dict[str, Face]) -> list[Line]:
    """The table itself: a frame, each card in front of whoever played it."""
    inner = 17

    def cell(spot: str, width: int) -> Line:
        line = _face(trick[spot]) if spot in trick else Line()
        line.truncate(width)
        line.align("center", width)
        return line

    rows = [
        cell("top", inner),
        Line.assemble(cell("left", 6), " " * (inner - 12), cell("right", 6)),
        cell("bottom", inner),
    ]
    return [
        Line("┌" + "─" * inner + "┐", "dim"),
        *(Line.assemble(("│", "dim"), row, ("│", "dim")) for row in rows),
        Line("└" + "─" * inner + "┘", "dim"),
    ]


def _inset(block: Sequence[Line], width: int, opposite: Sequence[Line] = ()) -> list[Line]:
    """Left-aligned rows, the block as a whole in the middle of the width and in line with the one opposite."""
    indent = (width - max((row.cell_len for row in [*block, *opposite]), default=0)) // 2
    return [Line.assemble(" " * indent, row) for row in block]


def _centred(block: Sequence[Line], height: int) -> list[Line]:
    return [Line()] * max(0, (height - len(block)) // 2) + list(block)


def _side_by_side(*blocks: Sequence[Line]) -> list[tuple[Line, ...]]:
    height = max(map(len, blocks))
    return [tuple(block[row] if row < len(block) else Line() for block in blocks) for row in range(height)]


def _joined(sides: int, left: Line, core: int, middle: Line, right: Line) -> Line:
    gap = 3
    row = Line(" " * _MARGIN)
    row.append_text(left)
    row.append(" " * (sides - left.cell_len + gap))
    row.append_text(middle)
    if right.cell_len:
        row.append(" " * (core - middle.cell_len + gap))
        row.append_text(right)
    return row
