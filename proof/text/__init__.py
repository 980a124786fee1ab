"""Transcriptions: reading them in any format, the rules of their characters, and edits that change nothing else.

`read` recognises the format of a text. Formats with pages are parsed by `page_marked` (its lines by `lines`, the cells
of a line by `column`), others by `inline`, `zhushu`, `critical` and `plain`; `formats` extracts the text of XML,
wikitext and archives first. `model` has pages and columns, `layers` the running text.

`variants` decides whether two characters are forms of one word (畧 略), by lists (`pairs`), dictionaries
(`authorities`), OpenCC's tables (`conversions`) and shapes (`alike`). `positions` maps places of one version of a text
to the next.
"""
