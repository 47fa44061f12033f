"""Names for the arrays that everything here is made of."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]
Mask = NDArray[np.bool_]

#: Label indices, as patterns and decisions hold them.
Labels = NDArray[np.int64]
