"""The versions of the package and of its answers, in their one place."""

__version__ = "0.1.0"

#: Raised when any answer can change: what was graded under another number is graded anew.
ANSWERS = 1
