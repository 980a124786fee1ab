"""Rescoring: the flags of a work are scored again, by the engine's bias in the whole work, the language model and the
witnesses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from itertools import islice

import proof
from proof.checking.engine_bias import EngineBias
from proof.checking.flag_language import FlagLanguage
from proof.checking.plan import METHOD_VERSION, digest
from proof.checking.second_reader import second_reading
from proof.collation.witness_evidence import ALIGNMENT_VERSION, Parallel, WitnessEvidence, beside, without_witnesses
from proof.model.flags import COLLATION, TEXT_ORIGINS, Flag, Origin, is_raised, without_language
from proof.settings.config import FlagsSection, Settings
from proof.store import Store
from proof.text.addresses import Addresses
from proof.text.authorities import lists_fingerprint
from proof.text.model import Script
from proof.text.transcription import Transcription
from proof.text.variants import policy_of
from proof.text.witnesses import apart_from, read_witnesses

FLAGS_PER_BATCH = 2_000
"""Flags that are scored and written together."""


def rescore_work(
    store: Store,
    work: str,
    bias: EngineBias,
    flagging: FlagsSection,
    witness_evidence: Mapping[str, WitnessEvidence] | None = None,
    language: FlagLanguage | None = None,
    pages: Set[str] | None = None,
) -> None:
    """Score the flags of a work again by the engine's bias in the whole work, the language model, and the witnesses of
    each page's text (`witness_evidence`, by page); only those on `pages`, if given."""
    while not _rescore_once(store, work, bias, flagging, witness_evidence, language, pages):
        pass  # repeat if a page was read again or collated meanwhile; rescoring is idempotent


def _rescore_once(
    store: Store,
    work: str,
    bias: EngineBias,
    flagging: FlagsSection,
    witness_evidence: Mapping[str, WitnessEvidence] | None,
    language: FlagLanguage | None,
    pages: Set[str] | None,
) -> bool:
    """Rescore all flags in batches; False if the work was changed by others meanwhile. Because of the batches, neither
    memory nor the time that other writers wait grows with the work."""
    revision: int | None = store.revision(work)
    for origins, seeded in ((TEXT_ORIGINS, False), ((Origin.SEEDED,), True)):
        flags = (flag for flag in store.flags(work, origins) if pages is None or flag.page in pages)
        while batch := tuple(islice(flags, FLAGS_PER_BATCH)):
            if language is not None:
                language.read(batch)
            changed = []
            for flag in batch:
                evidence = witness_evidence.get(flag.page) if witness_evidence else None
                new = rescored(flag, bias, flagging, evidence, language, seeded=seeded)
                if new != flag:
                    changed.append(new)
            if changed:
                revision = store.rescore(work, changed, seen=revision)
            if revision is None:
                return False
    return revision == store.revision(work)


def rescored(
    flag: Flag,
    bias: EngineBias,
    flagging: FlagsSection,
    evidence: WitnessEvidence | None,
    language: FlagLanguage | None = None,
    *,
    seeded: bool = False,
) -> Flag:
    """A flag with the score by the whole work, the language model (which must have read it) and the witnesses at its
    place, and raised according to the present settings. A `seeded` error that is not raised does not change, since only
    raised ones are shown to people. Differences of editions do not change either: collation scores them."""
    if flag.evidence.reason == COLLATION:
        return flag
    new = bias.rescored(without_language(without_witnesses(flag)))
    if language is not None:
        new = language.rescored(new, seeded=seeded)
    if evidence is not None:
        new = evidence.with_witnesses(new, seeded=seeded)
    raised = is_raised(new.kind, new.score, flagging.threshold, flagging.show_variants)
    return flag if seeded and not raised else replace(new, raised=raised)


def witness_evidence_of(
    settings: Settings,
    texts: Sequence[Transcription],
    store: Store,
    witnesses: Sequence[Transcription] | None = None,
) -> dict[str, WitnessEvidence]:
    """For every page the evidence of its text's witnesses, without the text itself.

    `witnesses` are those of the settings, if they were read already; the reading of a second engine counts as one more.
    Alignments are cached in the store while text and witness do not change. Raises TextError, ConfigError.
    """
    if witnesses is None:
        witnesses = read_witnesses(settings.witness_sources())
    evidence_of_page: dict[str, WitnessEvidence] = {}
    for text in texts:
        second = second_reading(settings, store, text.path)
        of_text = (apart_from(witness, text) for witness in (*witnesses, *([second] if second else ())))
        aligned = (_aligned(text, witness, store) for witness in of_text if witness is not None)
        parallels = [parallel for parallel in aligned if parallel.aligned]
        if not parallels:
            continue
        script = text.script if settings.page.script == "auto" else Script(settings.page.script)
        policy = policy_of(script, settings.variants.file)
        evidence = WitnessEvidence(Addresses(text), tuple(parallels), policy, settings.flags.threshold)
        evidence_of_page |= {page.id: evidence for page in text.pages}
    return evidence_of_page


def _aligned(text: Transcription, witness: Transcription, store: Store) -> Parallel:
    """The witness beside the text, by the alignment in the cache if that has it."""
    versions = (str(METHOD_VERSION), ALIGNMENT_VERSION, proof.__version__, lists_fingerprint())
    key = f"beside {digest(*versions, text.text, witness.text)}"
    cached = store.cache.get(key)
    parallel, alignment = beside(text, witness, cached)
    if cached is None:
        store.cache.put(key, alignment)
    return parallel
