"""Recognisers: the protocol, the engines behind it, and what they read."""

import os

# From 1.29 on onnxruntime reports use to its makers and leaves a device id in the user's cache, on Linux too.
# It reads this once, when it is first loaded; a user who has set it keeps what was set.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
