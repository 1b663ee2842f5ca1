"""One function a command: each composes the rooms below and can be called from Python."""
