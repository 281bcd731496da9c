"""Generalized biped walking control (coros2010 chapter 5): see `Walker`."""

from tumble.walking.settings import WalkSettings
from tumble.walking.style import Style, builtin_styles, load_style
from tumble.walking.walker import Walker

__all__ = ["Style", "WalkSettings", "Walker", "builtin_styles", "load_style"]
