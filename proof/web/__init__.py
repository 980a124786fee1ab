"""The proofreader's desk in the browser: pages, their JSON API, and images cut on demand."""

from proof.web.app import create_app

__all__ = ["create_app"]
