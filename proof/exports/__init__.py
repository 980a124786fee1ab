"""Exports: the corrected source, its changes, and formats for other tools.

`text_export` exports one text: `decided_corrections` selects the decisions that change it, `corrections` turns each
into an edit of the file, `source` writes them, and `forms` has one module for each other
format."""
