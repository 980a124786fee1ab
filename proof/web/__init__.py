"""The proofreader's desk in the browser: pages, the JSON API they use, and images cut on demand."""

from proof.web.app import create_app

__all__ = ["create_app"]
