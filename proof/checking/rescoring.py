"""The flags of a run scored again: by the engine's bias over the whole work, the language model, and witnesses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from itertools import islice

import proof
from proof.checking.engine_bias import EngineBias
from proof.checking.flag_language import FlagLanguage
from proof.checking.plan import METHOD_VERSION, digest
from proof.checking.second_reader import second_reading
from proof.collation.witness_evidence import ALIGNED, WitnessEvidence, beside, without_witnesses
from proof.model.flags import COLLATION, OF_TEXT, Flag, Origin, is_raised, without_language
from proof.settings.config import FlagsSection, Settings
from proof.store import Store
from proof.text.addresses import Addresses
from proof.text.authorities import lists_fingerprint
from proof.text.model import Script
from proof.text.transcription import Transcription
from proof.text.variants import policy_of
from proof.text.witnesses import apart_from, read_witnesses

FLAGS_PER_BATCH = 2_000
"""Flags that are weighed and written together."""


def settle(
    store: Store,
    work: str,
    bias: EngineBias,
    flagging: FlagsSection,
    witness_evidence: Mapping[str, WitnessEvidence] | None = None,
    language: FlagLanguage | None = None,
    pages: Set[str] | None = None,
) -> None:
    """Weigh the flags of a work again with the engine's bias over the whole text, the language model, and the witnesses
    of each page's text (`witness_evidence`, by page); only those on `pages`, if given."""
    while not _settled(store, work, bias, flagging, witness_evidence, language, pages):
        pass  # repeat if a page was read again or collated meanwhile; weighing is idempotent


def _settled(
    store: Store,
    work: str,
    bias: EngineBias,
    flagging: FlagsSection,
    witness_evidence: Mapping[str, WitnessEvidence] | None,
    language: FlagLanguage | None,
    pages: Set[str] | None,
) -> bool:
    """Weigh all flags in batches; false if somebody else changed the work meanwhile. With batches neither memory nor
    the time that other writers wait grows with the work."""
    seen: int | None = store.revision(work)
    for origins, seeded in ((OF_TEXT, False), ((Origin.SEEDED,), True)):
        flags = (flag for flag in store.flags(work, origins) if pages is None or flag.page in pages)
        while batch := tuple(islice(flags, FLAGS_PER_BATCH)):
            if language is not None:
                language.ask(batch)
            changed = []
            for flag in batch:
                evidence = witness_evidence.get(flag.page) if witness_evidence else None
                settled = weighed(flag, bias, flagging, evidence, language, seeded=seeded)
                if settled != flag:
                    changed.append(settled)
            if changed and (seen := store.rescore(work, changed, seen=seen)) is None:
                return False
    return seen == store.revision(work)


def weighed(
    flag: Flag,
    bias: EngineBias,
    flagging: FlagsSection,
    evidence: WitnessEvidence | None,
    language: FlagLanguage | None = None,
    *,
    seeded: bool = False,
) -> Flag:
    """A flag weighed with the whole work, the language model (which must have been asked about it) and the witnesses at
    its place, and raised according to the present settings. A `seeded` error that is not raised does not change, since
    only raised ones are shown to people. Differences of editions do not change either: collation weighs them."""
    if flag.evidence.reason == COLLATION:
        return flag
    settled = bias.settled(without_language(without_witnesses(flag)))
    if language is not None:
        settled = language.weighed(settled, seeded=seeded)
    if evidence is not None:
        settled = evidence.with_witnesses(settled, seeded=seeded)
    raised = is_raised(settled.kind, settled.score, flagging.threshold, flagging.show_variants)
    return flag if seeded and not raised else replace(settled, raised=raised)


def witness_evidence_of(
    settings: Settings,
    texts: Sequence[Transcription],
    store: Store,
    witnesses: Sequence[Transcription] | None = None,
) -> dict[str, WitnessEvidence]:
    """For every page the evidence of its text's witnesses, without the text itself.

    `witnesses` are those of the settings, if they were read already; the reading of a second engine is one beside them.
    Alignments are cached in the store while text and witness do not change. Raises TextError, ConfigError.
    """
    if witnesses is None:
        witnesses = read_witnesses(settings.witness_sources())
    evidence_of_page: dict[str, WitnessEvidence] = {}
    for text in texts:
        parallels = []
        second = second_reading(settings, store, text.path)
        for whole in (*witnesses, *([second] if second else ())):
            witness = apart_from(whole, text)
            if witness is None:
                continue
            versions = (str(METHOD_VERSION), ALIGNED, proof.__version__, lists_fingerprint())
            key = f"beside {digest(*versions, text.text, witness.text)}"
            known = store.cache.get(key)
            parallel, alignment = beside(text, witness, known)
            if known is None:
                store.cache.put(key, alignment)
            if parallel.aligned:
                parallels.append(parallel)
        if not parallels:
            continue
        script = text.script if settings.page.script == "auto" else Script(settings.page.script)
        policy = policy_of(script, settings.variants.file)
        evidence = WitnessEvidence(Addresses(text), tuple(parallels), policy, settings.flags.threshold)
        evidence_of_page |= {page.id: evidence for page in text.pages}
    return evidence_of_page
