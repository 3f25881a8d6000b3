"""Cases' certificates, proved again by the checker."""

import json

from lego_emit import LegoError
from lego_emit.proofcheck.check import REFUTED, check

from . import foreign
from .judge import Finding, OutOfTime, alarm

LANGUAGES = ("cpp", "cuda", "rust", "fortran", "julia", "glsl", "javascript")
SECONDS = 20.0  # of CPU; the checker's own bounds are in steps, and generous


def proved_again(case, number):
    """([what is refuted, what foreign form is accepted, or no report at all], [each statement's verdict])
    of a case's certificate, in its own language or the number's."""
    own = case.target in LANGUAGES and number % 2
    target = case.target if own else LANGUAGES[number // 2 % len(LANGUAGES)]
    try:
        subject = case.subject()
        unit = case.generate(subject, target)
    except LegoError:
        return [], []
    try:
        with alarm(SECONDS):
            report = check(json.loads(unit.certificate().json), unit.source, subject)
    except OutOfTime:
        return [], ["out of time"]
    except LegoError as error:
        if case.family == "loop" and "has a loop, of which a certificate knows nothing" in str(
            error
        ):
            return [], []
        return [Finding("certificate", f"{target}: {type(error).__name__}: {error}")], []
    except Exception as error:
        return [Finding("certificate", f"{target}: {type(error).__name__}: {error}")], []
    wrong = [
        Finding("certificate", f"{target}: {line.function}, {line.says}: {line.how}")
        for line in report.lines
        if line.verdict == REFUTED
    ]
    try:
        with alarm(SECONDS):
            wrong += [
                Finding("certificate", f"{target}: a foreign form is accepted: {what}")
                for what in foreign.accepted(unit, subject, target)
            ]
    except OutOfTime:
        pass
    return wrong, [line.verdict for line in report.lines]
