"""Running a check: its plan, the pipeline of pages, rescoring with the whole work, pagination of running editions.

`plan` says what the result of a page depends on; `executor` checks the pages for which this changed. `recheck` is for
the desk, where one page is read again on request."""
