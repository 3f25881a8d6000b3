"""The net: random cases over the public interface, and a judge that shares no code with what it
judges.

A case (case.py) is data: Python text of a layout or a function, and settings. layouts.py,
functions.py and loops.py make random ones, words.py has what their text may use, points.py finds the
numbers to look at, judge.py judges one case, machine.py computes what is emitted, fuzz.py runs many
(ci/fuzz), corpus.py keeps what ever failed.
"""
