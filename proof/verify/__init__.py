"""One page verified: its lines set against its columns, its characters against the glyphs, differences as flags."""
