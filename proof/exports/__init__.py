"""Exports: the corrected source, its changes, and formats for other tools.

`decided_corrections` selects the decisions that change the text, `corrections` turns each into an edit of the file (a
missing column into a new line: `line_edit`), `source` writes them, and `forms` has one module for each other format."""
