"""Features of a namespace whose latent vectors point the same way: items that are alike."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from vwlite.errors import UsageError
from vwlite.evaluation.catalogue import best, learned_of
from vwlite.evaluation.latent_factors import sides_of
from vwlite.evaluation.recommend import Recommendation
from vwlite.features.side_names import covers, sides_of_pair
from vwlite.training.model_loader import Restored


class Neighbours:
    """The learned features of a namespace by the cosines of their vectors, those of all its sides one behind the other.

    What is added to every vector (``--dot-offset``) is no part of them; a feature whose vector is 0 is near nothing.
    """

    def __init__(self, model: Restored, names: Mapping[int, str], namespace: str) -> None:
        """The namespace or, where dot products name letters, its first. Raises UsageError for one without vectors."""
        spaces = (side for pair in model.features.dotproduct for side in sides_of_pair(pair))
        namespace = next((side for side in spaces if covers(side, namespace)), namespace)
        learner, sides = model.learner, sides_of(model, namespace)
        if not learner.config.rank:
            raise UsageError("--near needs latent vectors: a model of --rank 0 has numbers in their place")
        self.names, self.slots = learned_of(learner, sides, names, namespace)
        vectors = np.concatenate([learner.vectors(*side, self.slots) for side in sides], axis=1)
        self.length = np.linalg.norm(vectors, axis=1)
        self.directions = vectors / np.where(self.length > 0, self.length, 1)[:, None]

    def near(self, slot: int, top: int) -> list[Recommendation] | None:
        """The ``top`` features of largest cosine with that at ``slot``, of equal ones by name; None: never learned."""
        places = np.flatnonzero(self.slots == slot)
        if not len(places) or not self.length[places[0]]:
            return None
        cosines = (self.directions @ self.directions[places[0]]).astype(np.float32)
        left_out = np.flatnonzero((self.slots == slot) | (self.length == 0))
        return [Recommendation(self.names[place], float(cosines[place])) for place in best(cosines, left_out, top)]
