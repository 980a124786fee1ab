"""A half-folio to be drawn: plain columns, raised ones, notes in double rows."""

from __future__ import annotations

LINES = (
    "司射適西階西倚扑升自西階東面請射于公",
    "　鄭注倚扑者將即君前不敢佩刑器也升堂者欲諸",
    "　公卿大夫辯聞也",
    "公許遂適西階上命賓御于公諸公卿則以耦告于上",
    "大夫則降即位而后告",
    "司射東面于大夫之西比耦大夫與大夫(案比今注疏/本訛作北據)",
    "(唐石經及/宋本改正)命上射曰某御于子命下射曰子與某子射",
    "卒遂比衆耦",
)
