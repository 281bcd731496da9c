"""Lines through examples that are alike: how what a step leads to changes with the state and the action.

    slopes, missed = local_lines(rows, values)            # of rows (n, q) and values (n, v) there
    values[i] + (row - rows[i]) @ slopes[i]               # of a row near row i

Each line is fitted to the `ALIKE` rows nearest to a row but for itself: to v = c + (x - x_i) B, by weights
1 / (|x - x_i| + `BLUNT`) and with a ridge, sum_j w_j |v_j - v(x_j)|^2 + `RIDGE` |B|^2.
"""

import numpy as np

ALIKE = 40  # rows of a line; lines through 25 to 150 miss lengths by as much; ours
BLUNT = 0.05  # in units of rows: nearer ones weigh hardly more; ours
RIDGE = 1e-5  # of the square of a unit of rows; ours
TOGETHER = 100  # rows that are done at once, for memory


def local_lines(rows: np.ndarray, values: np.ndarray, ridge: float = RIDGE) -> tuple[np.ndarray, np.ndarray]:
    """Slopes B (n, q, v) of the line at every row, and by how much it misses that row's values (n, v)."""
    n, q = rows.shape
    slopes, missed = np.empty((n, q, values.shape[1])), np.empty(values.shape)
    for start in range(0, n, TOGETHER):
        own = np.arange(start, min(start + TOGETHER, n))
        distance = np.sqrt(((rows - rows[own, None]) ** 2).sum(axis=2))
        distance[np.arange(len(own)), own] = np.inf
        some = np.argsort(distance, axis=1, kind="stable")[:, : min(ALIKE, n - 1)]
        weights = 1.0 / (np.take_along_axis(distance, some, axis=1) + BLUNT)
        weights /= weights.sum(axis=1, keepdims=True)
        away = rows[some] - rows[own, None]
        middle, mean = np.einsum("ij,ijq->iq", weights, away), np.einsum("ij,ijv->iv", weights, values[some])
        away -= middle[:, None]
        weighted = weights[..., None] * away
        square = np.einsum("ijq,ijr->iqr", weighted, away) + ridge * np.eye(q)
        slopes[own] = np.linalg.solve(square, np.einsum("ijq,ijv->iqv", weighted, values[some] - mean[:, None]))
        missed[own] = mean - np.einsum("iq,iqv->iv", middle, slopes[own]) - values[own]
    return slopes, missed
