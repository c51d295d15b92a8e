"""arrastre: exact values, best cards and graded decisions for Guiñote and its cousins.

>>> import arrastre
>>> position = arrastre.Position.parse("1O.SC/2O.4C.6B/7E6E.2B/5O.3C5C O 0 RC points=71-41")
>>> solution = arrastre.solve(position)
>>> solution.margin, solution.best[0].action
(-4, '4C')
"""

from arrastre._version import ANSWERS, __version__
from arrastre.errors import (
    ArrastreError,
    Fault,
    IllegalAction,
    InvalidPosition,
    InvalidRecord,
    InvalidRequest,
    InvalidRules,
    InvalidSyntax,
    InvalidTemplate,
)
from arrastre.estimate import Advice, Comparison, Estimate, PartGain, Reason, Watch, Whereabouts, best, watch
from arrastre.exact import Context, LineStep, Solution, check, solve, solve_many
from arrastre.game import (
    Action,
    ActionValue,
    Address,
    Deal,
    Knowledge,
    Limits,
    Place,
    Position,
    Score,
    Step,
    register,
    rulesets,
)
from arrastre.grade import DealGrade, Decision, Effort, Grading, Luck, Option, grade
from arrastre.guinote.family import FAMILY
from arrastre.importing import Template, convert
from arrastre.record import DealItem, LineValue, Record, line_values, read_deals, score

register(FAMILY)

__all__ = [
    "ANSWERS",
    "Action",
    "ActionValue",
    "Address",
    "Advice",
    "ArrastreError",
    "Comparison",
    "Context",
    "Deal",
    "DealGrade",
    "DealItem",
    "Decision",
    "Effort",
    "Estimate",
    "Fault",
    "Grading",
    "IllegalAction",
    "InvalidPosition",
    "InvalidRecord",
    "InvalidRequest",
    "InvalidRules",
    "InvalidSyntax",
    "InvalidTemplate",
    "Knowledge",
    "Limits",
    "LineStep",
    "LineValue",
    "Luck",
    "Option",
    "PartGain",
    "Place",
    "Position",
    "Reason",
    "Record",
    "Score",
    "Solution",
    "Step",
    "Template",
    "Watch",
    "Whereabouts",
    "__version__",
    "best",
    "check",
    "convert",
    "grade",
    "line_values",
    "read_deals",
    "register",
    "rulesets",
    "score",
    "solve",
    "solve_many",
    "watch",
]
