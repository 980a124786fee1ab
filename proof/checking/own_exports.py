"""Texts whose file was replaced by the program's own export, or corrected by hand in the same way."""

from __future__ import annotations

from contextlib import suppress

from proof.errors import ProofError
from proof.exports.decided_corrections import decided_in, note_written
from proof.exports.preview import preview_of
from proof.settings.config import Settings
from proof.store import Store
from proof.text.encoding import Decoded
from proof.text.read import in_script, parse_transcription
from proof.text.transcription import Transcription


def note_own_export(store: Store, text: Transcription, settings: Settings) -> None:
    """If a text is equal to an export of its last version, record that export. The places of its flags then follow the
    exact edits. Comparing the two texts would not do: it cannot tell an inserted column from an equal one beside it.

    Does nothing for a text that the store does not know, that did not change, or that was changed otherwise.
    """
    last_version = store.texts.content(str(text.path))
    if not last_version or last_version == text.text:
        return
    with suppress(ProofError):  # a text that cannot be corrected was not exported
        decoded = Decoded(last_version, text.decoded.encoding, text.decoded.bom)
        earlier = in_script(parse_transcription(decoded, text.path), settings.page.script)
        corrected = preview_of(decided_in(store, earlier), settings.variants.file).corrected
        if corrected.text == text.text:
            note_written(store, corrected, text.is_current)
