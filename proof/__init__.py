"""Proofread a digital Chinese classic against photographs of its pages."""

__version__ = "0.3.0.dev0"
