"""The certificate that is given: whether it has the form of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import LegoError, short_repr


class CertificateError(LegoError):
    """A certificate that is none, or is of another text."""


def check_form(certificate: Mapping[str, Any]) -> None:
    """Raises CertificateError where something in it is missing or of another type."""
    if not isinstance(certificate, Mapping) or certificate.get("certificate") != "lego-emit":
        raise CertificateError(
            "this is no certificate: `lego-emit generate --certificate` makes one"
        )
    if certificate.get("format") != 1:
        raise CertificateError(
            f"a certificate of format {short_repr(certificate.get('format'))}; this checker knows format 1"
        )
    _formed(certificate, {"language": str, "sha256": str, "subject": str, "fixed": dict})
    for function in _formed(certificate, {"functions": list})["functions"]:
        _formed(function, {"name": str, "role": str, "base": (int, list), "parameters": list})
        _formed(function, {"results": list, "given": list, "statements": list})
        _formed(function, {"prepare": str} if "prepare" in function else {})
        names = [
            param.get("name") for param in function["parameters"] if isinstance(param, Mapping)
        ]
        if any(names.count(name) > 1 for name in names):
            raise CertificateError(f"the certificate of {function['name']} names a parameter twice")
        for param in function["parameters"]:
            _formed(param, {"name": str, "of": str, "is": str, "base": int})
            _formed(param, {"type": str} if "type" in param else {})
        for statement in function["statements"]:
            for by in _formed(statement, {"says": str, "known": list})["known"]:
                _formed(by, {"by": str, "result": str} if statement["says"] == "range" else {})
        kinds = _formed(function, {"types": list})["types"] if "types" in function else []
        if len(kinds) not in (0, len(function["results"])):
            raise CertificateError(
                f"the certificate of {function['name']} says {len(kinds)} types of "
                f"{len(function['results'])} results"
            )
        texts = [*function["results"], *function["given"], *kinds]
        if not all(isinstance(text, str) for text in texts):
            raise CertificateError(
                f"the certificate of {function['name']} holds {short_repr(texts)}"
            )


def _formed(part: Any, wanted: Mapping[str, type | tuple[type, ...]]) -> Any:
    """A part of a certificate. Raises CertificateError where something in it is missing or of another
    type."""
    for key, kind in wanted.items():
        if not isinstance(part, Mapping) or key not in part:
            raise CertificateError(f"the certificate says nothing of {key!r}")
        if not isinstance(part[key], kind) or isinstance(part[key], bool):
            raise CertificateError(f"the certificate's {key!r} is {short_repr(part[key])}")
    return part
