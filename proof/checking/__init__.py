"""A run: its plan, pages through the stages, rescoring by the whole work, pagination of running editions."""
