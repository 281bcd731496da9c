"""Crowds: many characters in one scene, each to its own dance (coros2010 section 5.5.4)."""
