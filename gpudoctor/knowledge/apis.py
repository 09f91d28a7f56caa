"""Since which release the functions exist that fixes name, and what stands in their place before.

A fix is written for the TensorFlow of today; whoever reads it with TensorFlow 1.15 gets an AttributeError instead of a cure.
Rows go from whole lines to single names: what a line as a whole has another form for is not patched name by name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from gpudoctor.knowledge import versions
from gpudoctor.knowledge.row import Row
from gpudoctor.model.words import Action

Package = Literal["tensorflow", "keras"]
TF_2 = "2.0"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Form(Row):
    """What stands in the place of an API in older releases. `since`: of TensorFlow; `action`: None where it stays as it was."""

    text: str
    since: str
    action: Action | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Api(Row):
    """One API. `pattern` finds it in a fix; `since` and `gone` are versions of its package; `older`: newest first.

    An API without an older form leaves its fix out. `newer`: the form from `gone` on.
    """

    name: str
    pattern: str
    since: str
    package: Package = "tensorflow"
    gone: str = ""
    newer: str = ""
    older: tuple[Form, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """The versions in use, '' where unknown; one of which only the end of its span is known counts as that end."""

    tensorflow: str = ""
    keras: str = ""


def lacking(text: str, release: Release) -> tuple[str, ...]:
    """Return the names of the APIs in the text that this release does not have."""
    return tuple(each.name for each in _rows() if not _there(each, release) and re.search(each.pattern, text))


def fitted(text: str, action: Action, release: Release) -> tuple[str, Action] | None:
    """Return text and action in the form that the release has, None where it has none."""
    for each in _rows():
        if _there(each, release) or not re.search(each.pattern, text):
            continue
        if _too_new(each, release):
            if not each.newer:
                return None
            text = re.sub(each.pattern, each.newer, text)
            continue
        known = release.tensorflow or TF_2
        form = next((form for form in each.older if versions.at_least(known, form.since)), None)
        if form is None:
            return None
        text, action = re.sub(each.pattern, form.text, text), form.action or action
    return text, action


def _rows() -> tuple[Api, ...]:
    from gpudoctor.knowledge.apis_data import APIS  # noqa: PLC0415  # most reports are about a release that has them all

    return APIS


def _version(api: Api, release: Release) -> str:
    return release.keras if api.package == "keras" else release.tensorflow


def _there(api: Api, release: Release) -> bool:
    version = _version(api, release)
    return not version or (versions.at_least(version, api.since) and not _too_new(api, release))


def _too_new(api: Api, release: Release) -> bool:
    version = _version(api, release)
    return bool(version and api.gone) and versions.at_least(version, api.gone)
