"""A vector for every text that no model had to make: both sides compute the same one.

No import of this project: the file also serves in cpersona's own environment.
"""

import zlib

import numpy as np

DIM = 512  # as the bundled default embedding


def text_vector(text: str) -> np.ndarray:
    """Return the unit vector of a text, float32, shape (512,): its checksum seeds it."""
    vector = np.random.default_rng(zlib.crc32(text.encode())).standard_normal(DIM, np.float32)
    return vector / np.linalg.norm(vector)
