"""What people see: positions laid out around the table, answers as tables, faults in sentences.

Everything is rendered into one string for each item, so that an item is written whole or not at all. Games are known
here only by what ``arrastre.game`` says of them.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TextIO

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.text import Text as Line

from arrastre.cli.items import Item
from arrastre.cli.text import Text
from arrastre.errors import ArrastreError, Fault
from arrastre.exact import Solution
from arrastre.game import Action, Address, Deal, Diagram, Face, Position, RuleRow, Score, Step, Table
from arrastre.record import LineValue, Record, score

WIDTH: Final = 80
_WIDEST: Final = 100
_MARGIN: Final = 2

_SUIT_STYLES: Final = ("yellow", "red", "bright_blue", "green")
_TURN: Final = "◂"
BEST: Final = "▸"
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
        self.console = Console(file=stream or io.StringIO(), highlight=False, markup=False, emoji=False)
        self._width = max(40, min(self.console.width, _WIDEST)) if self.console.is_terminal else WIDTH
        self.console.width = self._width
        # Without colours a line is its text: what rich would do to it takes most of the time of an answer.
        self._colourless = self.console.color_system is None

    # Whole items.

    def position(self, item: Item, position: Position, at: Address | None = None) -> str:
        """A position, found at a decision of a deal if there is one, and what may be done in it."""
        diagram = position.game.describe(position, self.text.lang)
        parts = [
            *self._heading(item, at),
            *self._table(diagram),
            Line(),
            *self._facts(diagram, self._legal(position, diagram)),
        ]
        return self._string([*parts, Line()]) + self._unfolded(str(position))

    def solution(self, item: Item, solution: Solution, seconds: float | None, at: Address | None = None) -> str:
        """A position, what its actions are worth, and how it goes on."""
        position = solution.position
        diagram = position.game.describe(position, self.text.lang)
        parts = [*self._heading(item, at), *self._table(diagram), Line(), *self._facts(diagram, []), Line()]
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
        place = plain(item.place) or self.text("fault.item") + f" {item.index + 1}"
        said = plain(self.text.error(error))
        faults = self._spoken(item, error.faults)
        if len(faults) == 1 and self._what(faults[0]) in said:
            place = ": ".join(filter(None, [place, self._where(faults.pop(), item.line)]))
        lines: list[RenderableType] = [Line.assemble((f"{place}: ", "bold"), said)]
        return self._string([*lines, *self._fault_lines(faults, item.line)])

    def ruleset(self, name: str, players: int, rows: Sequence[RuleRow]) -> str:
        """A ruleset, what differs from the default marked."""
        say = self.text
        columns = [
            [say(f"rules.{name}"), *(getattr(row, name) for row in rows)] for name in ("field", "value", "default")
        ]
        widths = [max(map(cell_len, map(plain, column))) + 2 for column in columns]
        parts: list[RenderableType] = [Line(say("rules.title", name=plain(name), players=players), "bold"), Line()]
        for number, cells in enumerate(zip(*columns, strict=True)):
            row = rows[number - 1] if number else None
            style = "dim" if row is None else "bold yellow" if row.differs else ""
            mark = "* " if row is not None and row.differs else "  "
            parts.append(Line(mark + "".join(map(_padded, map(plain, cells), widths)), style))
            if row is not None:
                parts.append(Padding(Line(plain(row.meaning), "dim"), (0, 0, 0, 6)))
                if row.values:
                    values = say("rules.values", values=say.either(row.values))
                    parts.append(Padding(Line(plain(values), "dim"), (0, 0, 0, 6)))
        return self._string(parts)

    def rulesets(self, rulesets: Sequence[tuple[str, Sequence[RuleRow]]]) -> str:
        """All rulesets, each with what makes it different."""
        say = self.text
        table = [[Line(say("rules.name"), "bold"), Line(say("rules.differs"), "bold")]]
        for name, rows in rulesets:
            differs = ", ".join(f"{row.field} {row.value}" for row in rows if row.differs)
            table.append([Line(plain(name), "bold"), Line(plain(differs) or say("rules.is_default"))])
        return self._string(self._grid(table, gap=2))

    def deal(self, item: Item, deal: Deal) -> str:
        """A recorded deal: what was dealt, every trick, what else was done, and what it came to."""
        parts: list[RenderableType] = [*self._heading(item), *self._prose(deal.data)]
        first = deal.steps[0].position if deal.steps else deal.end
        if first is not None:
            diagram = deal.game.describe(first, self.text.lang)
            parts += [*self._table(diagram), Line(), *self._facts(diagram, []), Line(), *self._tricks(deal, diagram)]
        parts += [Line(), *self._score_table(score(Record([deal])).tables(self.text.lang)[:1])]
        return self._string(parts)

    def faults(self, item: Item, error: ArrastreError) -> str:
        """What is wrong with a deal, every fault on a line of its own."""
        lines: list[RenderableType] = [Line(), Line(plain(self.text.error(error)) + ":", "bold")]
        return self._string([*lines, *self._fault_lines(self._spoken(item, error.faults), 0)])

    def score(self, score: Score) -> str:
        """What deals add up to, a table after the other."""
        return self._string(self._score_table(score.tables(self.text.lang)))

    def line(self, item: Item, deal: Deal, values: Sequence[LineValue], objective: str) -> str:
        """What was played in a deal, action by action: its value before, what it cost, what would have been best."""
        say = self.text
        parts = self._heading(item)
        if not values:
            return self._string([*parts, Line(say("line.empty"))])
        diagram = deal.game.describe(values[0].step.position, say.lang)
        seats = [plain(view.name) for view in diagram.seats]
        heads = ["line.at", "solve.seat", "line.played", "solve.value", "line.cost", "line.better"]
        rows = [[Line(say(head), "dim") for head in heads]]
        costs: dict[int, int] = {}
        unknown = 0
        for each in values:
            step = each.step
            shown = Line(self._of_line(step, objective, each.value) if each.value is not None else "?")
            if each.value is None:
                unknown += 1
                if each.lower is not None and each.upper is not None:
                    bounds = (self._of_line(step, objective, bound) for bound in (each.lower, each.upper))
                    shown = Line(" … ".join(dict.fromkeys(bounds)))
            cost, better = "", Line()
            if each.loss:
                side = diagram.seats[step.action.seat].side
                costs[side] = costs.get(side, 0) + each.loss
                cost = f"{-each.loss:+d}".replace("-", "−")
                better = Line(", ").join(
                    Line.assemble(
                        self._action(step.position, action),
                        "" if action.seat == step.action.seat else f" ({seats[action.seat]})",
                    )
                    for action in each.best
                )
            played = self._action(step.position, step.action)
            if step.breach is not None:
                played.append(" !", "bold red")
            rows.append([Line(str(step.at), "dim"), Line(seats[step.action.seat]), played, shown, Line(cost), better])
            if step.breach is not None:
                rows.append([Line()] * 5 + [Line(plain(self._duty(step, diagram)), "red")])
        parts += self._grid(rows, gap=3, right=(3, 4), indent=_MARGIN)
        sides = sorted({view.side for view in diagram.seats})
        lost = [f"{_side(diagram, side)} {costs.get(side, 0)}" for side in sides]
        parts += [Line(), Line(say("line.sum", costs=", ".join(lost)), "bold")]
        if unknown:
            parts.append(Line(say("line.unknown", count=unknown, total=len(values))))
        return self._string(parts)

    def _duty(self, step: Step, diagram: Diagram) -> str:
        """Which rule an action broke, in words; those of its fault where only they say it."""
        assert step.breach is not None
        action = f"{step.action.action} ({diagram.seats[step.action.seat].name})"
        return step.position.why_not(action, self.text.lang) or self.text.fault(step.breach)

    def _spoken(self, item: Item, faults: Iterable[Fault]) -> list[Fault]:
        """Faults whose sentences, made by a game, are in the language of the command."""
        if item.deal is None or self.text.lang == "en":
            return list(faults)
        breaches = {}
        for step in item.deal.steps:
            if step.breach is not None:
                diagram = item.deal.game.describe(step.position, self.text.lang)
                seat = plain(diagram.seats[step.action.seat].name)
                face = self._action(step.position, step.action).plain
                said = self.text("deal.breach", trick=step.at.trick, seat=seat, action=face)
                breaches[step.breach.field, step.breach.reason] = f"{said}: {self._duty(step, diagram)}"
        return [replace(fault, message=breaches.get((fault.field, fault.reason), fault.message)) for fault in faults]

    def _of_line(self, step: Step, objective: str, value: int) -> str:
        """A value of a step as people read it: a margin with its sign, or the outcome's word."""
        position = step.position
        word = position.game.outcome(position, objective, value, lambda: position)
        return f"{value:+d}".replace("-", "−") if word is None else self.text.outcome_short(word)

    # Parts of deals.

    def _prose(self, data: Mapping[str, Any]) -> list[RenderableType]:
        """Who played where, as far as a deal says so."""
        said = [data.get(name) for name in ("event", "site", "date", "round", "table", "source")]
        title = ", ".join(plain(each) for each in said if each and isinstance(each, str))
        parts: list[RenderableType] = [Line(title, "bold")] if title else []
        names = data.get("names")
        if isinstance(names, list | tuple) and any(names):
            parts.append(Line(self.text("deal.players", names=", ".join(plain(str(name)) or "–" for name in names))))
        if data.get("comment"):
            parts.append(Line(plain(str(data["comment"])), "italic"))
        return [*parts, Line()] if parts else []

    def _tricks(self, deal: Deal, diagram: Diagram) -> list[Line]:
        """A row for each trick, who won it and what was in it; declarations and comments on rows of their own."""
        game, lang = deal.game, self.text.lang
        seats = [plain(view.name) for view in diagram.seats]
        comments = self._comments(deal.data)
        rows: list[list[Line]] = []
        trick: list[tuple[int, Line]] = []
        said: list[str] = []
        for place, step in enumerate(deal.steps):
            seat, position = step.action.seat, step.position
            face = self._action(position, step.action)
            if step.breach is not None:
                face.append(" !", "bold red")
            comment = next(comments.get((step.at.trick, seat, step.action.action), iter(())), "")
            after = deal.steps[place + 1].position if place + 1 < len(deal.steps) else deal.end
            if step.at.k:
                rows.append([Line(), Line.assemble((f"{seats[seat]} ", "dim"), face), Line()])
                if comment:
                    rows.append([Line(), Line(plain(comment), "italic"), Line()])
                continue
            if not trick:
                # Cards that were on the table already, in a deal of which only the end is known.
                table = game.describe(position, lang).trick if place == 0 else ()
                trick = [(who, Line.assemble("(", _face(card), ")")) for who, card in table]
            trick.append((seat, face))
            said += [comment] if comment else []
            won = None if after is None else game.trick_won(position, after)
            last = place + 1 == len(deal.steps) or deal.steps[place + 1].at.trick != step.at.trick
            if won is None and not last:
                continue
            winner, points = won or (None, 0)
            row = Line("  ").join(
                Line.assemble((seats[who] + " ", "bold" if who == winner else "dim"), card) for who, card in trick
            )
            taken = Line() if winner is None else Line.assemble("→ ", (f"{seats[winner]} +{points}", "bold"))
            rows.append([Line(f"{step.at.trick}.", "dim"), row, taken])
            rows += [[Line(), Line(plain(each), "italic"), Line()] for each in said]
            trick, said = [], []
        return self._grid(rows, gap=2, right=(0,), indent=_MARGIN)

    @staticmethod
    def _comments(data: Mapping[str, Any]) -> dict[tuple[Any, Any, Any], Iterator[str]]:
        """The comments of a deal's events, by trick, seat and action."""
        found: dict[tuple[Any, Any, Any], list[str]] = {}
        for event in data.get("events") or ():
            if isinstance(event, Mapping) and event.get("comment"):
                key = (event.get("trick"), event.get("seat"), event.get("action"))
                found.setdefault(key, []).append(str(event["comment"]))
        return {key: iter(said) for key, said in found.items()}

    def _score_table(self, tables: Sequence[Table]) -> list[RenderableType]:
        parts: list[RenderableType] = []
        for table in tables:
            if parts:
                parts.append(Line())
            rows = [[Line(plain(head), "dim") for head in table.head]]
            rows += [[Line(plain(cell)) for cell in row] for row in table.rows]
            parts += self._grid(rows, gap=2)
        return parts

    # Parts of items.

    def _string(self, parts: Iterable[RenderableType]) -> str:
        rendered: list[str] = []
        for part in parts:
            if self._colourless and isinstance(part, Line) and part.cell_len <= self._width:
                rendered.append(part.plain)
                continue
            with self.console.capture() as capture:
                self.console.print(part)
            rendered += capture.get().splitlines()
        return "".join(line.rstrip() + "\n" for line in rendered)

    def _unfolded(self, line: str) -> str:
        """A line that is not folded, since people copy it."""
        if self._colourless:
            return plain(line) + "\n"
        with self.console.capture() as capture:
            self.console.print(Line(plain(line), "dim"), soft_wrap=True)
        return capture.get()

    def _heading(self, item: Item, at: Address | None = None) -> list[RenderableType]:
        parts: list[RenderableType] = []
        places = [plain(item.place)] if item.place else []
        if item.deal is not None:
            places.append(self.text("deal.title", number=item.deal.number) + (f", {at}" if at is not None else ""))
        if places:
            parts.append(Line(f"── {', '.join(places)} ──", "dim"))
        parts += [Line(plain(note), "italic") for note in item.notes]
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
        rows = [Line.assemble((plain(view.name), "bold"), (f" {_TURN}" if turn else "", "bold magenta"))]
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
            row.append_text(Line.assemble(("  " if row else "") + plain(diagram.seats[seat].name) + " ", _face(face)))
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
        rows += [(plain(label), Line(plain(value))) for label, value in diagram.facts]
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
                    first, *folded = cell.wrap(self.console, room)
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
                legal.append(f" ({plain(diagram.seats[action.seat].name)})", "dim")
        rows = [(say("show.turn"), Line(plain(diagram.seats[diagram.turn].name), "bold")), (say("show.legal"), legal)]
        forbidden: dict[str, list[Line]] = {}
        for face in diagram.seats[diagram.turn].hand:
            why = position.why_not(face.text, say.lang)
            if why is not None:
                forbidden.setdefault(plain(why), []).append(_face(face))
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
                Line.assemble(self._action(position, action), f" ({plain(diagram.seats[action.seat].name)})")
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
                Line(BEST if is_best else "", "bold"),
                self._action(position, each.action),
                Line(plain(diagram.seats[each.action.seat].name)),
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
        seats = [plain(view.name) for view in diagram.seats]
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

    def _fault_lines(self, faults: Iterable[Fault], line: int) -> Iterator[RenderableType]:
        for fault in faults:
            where = self._where(fault, line)
            said = Line.assemble((where, "bold"), ": " if where else "", self._what(fault))
            yield Padding(said, (0, 0, 0, _MARGIN))

    def _where(self, fault: Fault, line: int) -> str:
        parts = [plain(fault.field)] if fault.field else []
        if fault.line not in (None, line):
            parts.append(self.text("fault.line", line=fault.line))
        if fault.column is not None:
            parts.append(self.text("fault.column", column=fault.column))
        return ", ".join(parts)

    def _what(self, fault: Fault) -> str:
        sentence = plain(self.text.fault(fault))
        return sentence if fault.card is None or fault.card in sentence else f"{plain(fault.card)}: {sentence}"


def plain(text: str) -> str:
    """Somebody's text with nothing in it that a terminal obeys."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def _padded(text: str, width: int) -> str:
    return text + " " * (width - cell_len(text))


def _face(face: Face) -> Line:
    style = _SUIT_STYLES[face.suit] if 0 <= face.suit < len(_SUIT_STYLES) else ""
    return Line(plain(face.text), style)


def _side(diagram: Diagram, side: int) -> str:
    names = [plain(view.name) for view in diagram.seats if view.side == side]
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
