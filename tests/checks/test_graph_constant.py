"""GD453: the message has one cause."""

from __future__ import annotations

from gpudoctor_checks.memory.graph_constant import embedded
from tests.checks.texts import FAULTY, found, text_case

CASE = text_case("GD453", "ValueError: Cannot create a tensor proto whose content is larger than 2GB.", variants=FAULTY)


def test_an_array_is_fed_in_pieces() -> None:
    finding = found(embedded, "ValueError: GraphDef cannot be larger than 2GB.")
    assert (finding.cause, finding.fixes[0].id) == ("graph-constant", "feed-in-pieces")
