"""Running a check: its plan, the pipeline of pages, rescoring over the whole work, pagination of running editions."""
