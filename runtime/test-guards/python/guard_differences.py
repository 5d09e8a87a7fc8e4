"""Keeps runners from explaining a failed comparison for minutes: the time for a difference grows with the cube of its lines."""

import difflib
import sys

PAIRS_MAX = 2500
CHARS_MAX = 8000
SHOWN_MAX = 20
RUNNERS = ("unittest", "_pytest")


def bound():
    """Large values are shown with their beginnings. The code under test gets the difference that it asks for."""
    ndiff = difflib.ndiff

    def bounded(a, b, *args, **options):
        caller = sys._getframe(1).f_globals.get("__name__", "")
        if caller.split(".")[0] not in RUNNERS or not _is_large(a, b):
            return ndiff(a, b, *args, **options)
        return iter(_begin("- ", a) + _begin("+ ", b))

    difflib.ndiff = bounded


def _is_large(a, b):
    return len(a) * len(b) > PAIRS_MAX or sum(map(len, a)) + sum(map(len, b)) > CHARS_MAX


def _begin(mark, lines):
    shown = [mark + line[:CHARS_MAX] for line in lines[:SHOWN_MAX]]
    left = len(lines) - len(shown)
    return shown + (["%s... and %d more lines" % (mark, left)] if left > 0 else [])
