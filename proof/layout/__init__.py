"""The layout of a page of any kind: plates, openings, frame, columns with rules and without, registers, notes, figures,
and the strips that are cut from columns; and layouts set by people."""
