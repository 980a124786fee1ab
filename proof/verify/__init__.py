"""Verifying one page: its lines are compared with its columns, its characters with the glyphs; differences are flags.

Under a seal (stamp) three things keep flags away: `proof.layout.strips` removes its dots, `scores.doubts` lowers the
scores of glyphs among unsure ones, and `page` raises no character flags in columns that `proof.layout.figures` finds to
hold a drawing or a seal."""
