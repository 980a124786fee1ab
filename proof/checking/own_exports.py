"""Files that were replaced by what an export wrote elsewhere, or by the same corrections made by hand."""

from __future__ import annotations

from contextlib import suppress

from proof.errors import ProofError
from proof.exports.decided import decided_in, note_written
from proof.exports.preview import preview_of
from proof.settings.config import Settings
from proof.store import Store
from proof.text.encoding import Decoded
from proof.text.read import in_script, parse_transcription
from proof.text.transcription import Transcription


def note_own_export(store: Store, text: Transcription, settings: Settings) -> None:
    """Where a text reads as an export of its last version would leave it, record that export: the places of its flags
    then follow the exact edits, not a comparison, which cannot tell a column that was written from one that was there.

    Does nothing for a text that the store does not know, that did not change, or that was changed otherwise.
    """
    before = store.texts.content(str(text.path))
    if not before or before == text.text:
        return
    with suppress(ProofError):  # a text that cannot be corrected was not exported
        decoded = Decoded(before, text.decoded.encoding, text.decoded.bom)
        earlier = in_script(parse_transcription(decoded, text.path), settings.page.script)
        corrected = preview_of(decided_in(store, earlier), settings.variants.file).corrected
        if corrected.text == text.text:
            note_written(store, corrected, text.is_current)
