"""Fits: the seed and the settings by which first controllers that come with the package were fitted.

seed, settings = FITS["getup-2"]
points = fit_first(UprightSystem(SKILLS["getup-2"]), np.random.default_rng(seed), settings)
first_points("getup-2")                # the same points, on a machine with the same arithmetic

A fit depends on the test of success, and one with `whole` on the law of standing, too: these were made with the code of
commit a20ea95, which has `StepReflex.near` 0.132 m and lets it face 15 degrees aside. Other code makes other points.
"""

from collections.abc import Mapping

from tumble.attraction.first import Fitting

FITS: Mapping[str, tuple[int, Fitting]] = {
    "getup-2": (1, Fitting(knots=0.4, generations=80, whole=40, spread=0.15)),
    "getup-3": (1, Fitting(population=24, samples=4, generations=150, spread=0.15, levels=(0.05, 2.0))),
}
