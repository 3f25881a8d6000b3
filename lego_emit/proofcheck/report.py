"""What came of checking a certificate: a verdict on each statement, and how it was reached."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

PROVED, ASSUMED, SAMPLED = "proved", "assumed", "sampled"
REFUTED, OPEN = "refuted", "not proved"
HELD = (PROVED, ASSUMED)


@dataclass(frozen=True)
class Line:
    """What came of one statement of one function. verdict: PROVED, ASSUMED (the text's comment says
    so), SAMPLED, REFUTED or OPEN; how: by which means, or why not."""

    function: str
    says: str
    verdict: str
    how: str


@dataclass
class Report:
    """All that was found. others: functions of the text that the certificate says nothing of; trusted:
    what the proofs rest on beside the text."""

    lines: list[Line] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    trusted: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        """Whether every statement was proved, or is assumed in the text's own comment."""
        return bool(self.lines) and all(line.verdict in HELD for line in self.lines)

    def as_dict(self) -> dict[str, Any]:
        """All of it, as JSON has it."""
        return asdict(self)

    def __str__(self) -> str:
        found: list[str] = []
        names = dict.fromkeys(line.function for line in self.lines)
        for name in names:
            own = [line for line in self.lines if line.function == name]
            if len({(line.verdict, line.how) for line in own}) == 1:
                found.append(f"{name}: {own[0].verdict}; {own[0].how}")
                continue
            found.append(name)
            found += [f"  {line.says}: {line.verdict}; {line.how}" for line in own]
        if self.others:
            found.append(f"not certified: {', '.join(self.others)}")
        found += [f"rests on: {what}" for what in self.trusted]
        return "\n".join(found) + "\n"
