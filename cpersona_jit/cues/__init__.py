"""Time cues: which period or which conversation a question points at."""
