"""Give each fix the form that the TensorFlow and Keras in use have, or leave it out where they have none.

It is done once for the fixes of all checks, a third party's too; each check doing it would be tempting, and one forgets.
Where nothing tells the release, the fixes stay as they are: written for today's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from gpudoctor.knowledge import tensorflow_releases, versions
from gpudoctor.knowledge.apis import Release, fitted
from gpudoctor.logs.era import AT_MOST
from gpudoctor.model.finding import NEXT_STEP, Evidence, Finding, Fix
from gpudoctor.model.missing import either
from gpudoctor.model.observed import STATED
from gpudoctor.model.snapshot import Snapshot

LEGACY = "TF_USE_LEGACY_KERAS"
YES = frozenset({"1", "true", "True"})
KERAS_2, NEWEST_KERAS = "2.0", "3.99"  # what the release brings, where its own number is not known


def with_fitting_apis(findings: Iterable[Finding], snapshot: Snapshot) -> list[Finding]:
    """Return the findings with fixes, and commands to run, that this release can run."""
    release = release_in_use(snapshot)
    if not release.tensorflow and not release.keras:
        return list(findings)
    return [
        replace(
            each,
            fixes=tuple(_fixes(each.fixes, release)),
            evidence=tuple(_evidence(item, release) for item in each.evidence),
        )
        for each in findings
    ]


def release_in_use(snapshot: Snapshot) -> Release:
    """Return what is known of the release: its own number, else the newest that the text can be of."""
    stated = _stated(snapshot)
    build = snapshot.tensorflow
    known = (either(build.version, "") if build is not None else "") or stated.get("tf", "") or stated.get(AT_MOST, "")
    tensorflow = known if versions.is_version(known) and "." in known else ""
    return Release(tensorflow=tensorflow, keras=_keras(snapshot, tensorflow))


def _stated(snapshot: Snapshot) -> Mapping[str, str]:
    events = snapshot.log.events if snapshot.log is not None else ()
    return next((each.values for each in events if each.kind == STATED), dict[str, str]())


def _keras(snapshot: Snapshot, tensorflow: str) -> str:
    build = snapshot.tensorflow
    own = (either(build.keras_version, "") if build is not None else "") or (snapshot.packages or {}).get("keras", "")
    if (snapshot.env or {}).get(LEGACY) in YES:
        return KERAS_2
    if versions.is_version(own):
        return own
    if not tensorflow:
        return ""
    return NEWEST_KERAS if versions.at_least(tensorflow, tensorflow_releases.KERAS_3_SINCE) else KERAS_2


def _fixes(fixes: Iterable[Fix], release: Release) -> Iterator[Fix]:
    for each in fixes:
        form = fitted(each.text, each.action, release)
        if form is not None:
            text, action = form
            yield each if text == each.text else replace(each, text=text, action=action)


def _evidence(item: Evidence, release: Release) -> Evidence:
    if item.source != NEXT_STEP or not isinstance(item.value, str):
        return item
    form = fitted(item.value, "command", release)
    return item if form is None else replace(item, value=form[0])
