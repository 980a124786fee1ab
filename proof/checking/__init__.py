"""Running a check: its plan, the pipeline of pages, rescoring with the whole work, pagination of running editions."""
