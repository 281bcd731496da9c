"""Generalized biped walking control (coros2010 chapter 5): see `Walker`.

`kernel` calls, once a physics step and row: `wishes` (what is followed), `deciding` (stand, step or stop), `crossing`
(what the ground asks for), `pose` (motion generator, section 5.3.1), `swing` with `steps` and `pendulum` (5.3.2),
`balance` with `force` and `torques` (5.3.3, 5.3.4), `hands` and `holding` (5.3.5, 5.5.4). In compiled code `body` are
constants, `k` settings, `m` the row's memory, `look` what it looks like, `f` live arrays, `i` the row.
"""

from tumble.walking.settings import WalkSettings
from tumble.walking.style import Style, builtin_styles, load_style
from tumble.walking.walker import Walker

__all__ = ["Style", "WalkSettings", "Walker", "builtin_styles", "load_style"]
