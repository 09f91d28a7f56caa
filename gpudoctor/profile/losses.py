"""The loss as Keras told it: the first that became NaN or infinite, else that of the process that trained."""

from __future__ import annotations

from gpudoctor.model.missing import Missing
from gpudoctor.model.session import Session
from gpudoctor.model.told import LossRecord
from gpudoctor.model.trends import Loss
from gpudoctor.profile.steps import Loop

NOT_TOLD = Missing("no loss was told: neither fit nor train_on_batch ran for a second")


def loss(session: Session, loop: Loop) -> Loss | Missing:
    """Return it. Of several the one with the most steps."""
    told = [each for each in session.losses if each.step]
    bad = [each for each in told if not isinstance(each.bad_step, Missing)]
    own = [each for each in told if each.process == loop.record.process]
    if not bad and not own:
        return NOT_TOLD
    chosen = bad[0] if bad else max(own, key=lambda each: each.step)
    return _loss(chosen)


def _loss(record: LossRecord) -> Loss:
    return Loss(
        label=record.label,
        file=record.file,
        line=record.line,
        steps=record.step,
        first_value=record.first_value,
        last_value=record.last_value,
        bad_step=record.bad_step,
        bad_within=record.bad_within,
        bad_value=record.bad_value,
    )
