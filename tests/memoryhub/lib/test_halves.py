"""The table of halves says what pgvector would."""

from __future__ import annotations

import numpy as np
from pgvector import HalfVector

from memoryhub.lib.halves import halfvec_text


def test_the_text_is_pgvectors_own():
    dice = np.random.default_rng(1)
    vectors = [dice.normal(size=256), dice.normal(size=3) * 1e-6, np.array([0.0, -0.0, 65504.0, 1e-8])]
    for vector in vectors:
        assert halfvec_text(vector.astype(np.float32)) == HalfVector(vector.tolist()).to_text()
    assert halfvec_text([0.25, -1.5]) == "[0.25,-1.5]"
