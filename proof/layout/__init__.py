"""The layout of a page of any kind: plates, openings, frame, columns with rules and without, registers, notes, figures,
and the strips that are cut from columns; and layouts set by people.

`photograph.page_columns` is the entry. It decides how many columns a page has: those of the ruled comb that fits
(`half_folio`), of another number (`extent.other_count`), or those that the network finds (`page`).

The pitch is the distance between glyphs along a column, that is, the height of a cell; the spacing is the distance
between the middles of neighbouring columns. The name of a constant ends with its unit: `PX` are pixels at the size at
which it is measured, `CELLS` heights of a cell, `GLYPHS` widths of a glyph, `SPACINGS` spacings, `WIDTHS` and `HEIGHTS`
those of the thing that its docstring names.
"""
