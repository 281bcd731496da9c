"""Crowds: many characters in one scene, each to its own dance (coros2010 section 5.5.4).

`crowd` has the controller, `kernel` what is compiled of it; dances are styles of walking, as files in `dances`.
"""
