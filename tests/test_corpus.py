"""The corpus of public threads is answered right, stays right when texts vary, and nothing harmful is ever advised."""

from __future__ import annotations

import re

import pytest

from gpudoctor.diagnose import registry
from tests.corpus import Thread, judged, mistakes, threads
from tests.corpus_variations import FLIPS, WAYS, flipped, varied

MOST_EXEMPT = 23
STAY_RIGHT_SHARE = 0.95
CHECKS = registry.load().checks
THREADS = threads()
TEXTS = [each for each in THREADS if not each.exempt and (each.folder / "run.log").is_file()]
each_thread = pytest.mark.parametrize("thread", THREADS, ids=lambda each: each.name)


@each_thread
def test_a_thread_gets_its_cause_its_first_fix_and_nothing_forbidden(thread: Thread) -> None:
    assert mistakes(thread, judged(thread.snapshot(), CHECKS, text=thread.has_text)) == []


def test_few_threads_are_exempt_and_each_says_why() -> None:
    exempt = [each for each in THREADS if each.exempt]

    assert len(exempt) <= MOST_EXEMPT
    assert all(re.search("gpudoctor (run|scan)", each.exempt) for each in exempt)


@pytest.mark.parametrize("way", WAYS)
def test_answers_stay_right_however_the_text_comes(way: str) -> None:
    wrong = [each.name for each in TEXTS if mistakes(each, varied(each, WAYS[way], CHECKS))]

    assert len(wrong) <= (1 - STAY_RIGHT_SHARE) * len(TEXTS), wrong


def test_the_verdict_follows_the_facts() -> None:
    assert sum(len(each.verdicts) for each in FLIPS) >= 20
    assert flipped(CHECKS) == []


@each_thread
def test_a_thread_names_its_origin_and_nobody(thread: Thread) -> None:
    assert re.search(
        r"Public thread \S+#\d+|Public thread \S+", (thread.folder / "origin.md").read_text(encoding="utf-8")
    )
    for name in ("snapshot.json", "run.log"):
        path = thread.folder / name
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        assert re.search(r"(GPU|MIG)-[0-9a-f]{8}-|/home/|/Users/|\\Users\\", text) is None
