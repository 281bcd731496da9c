"""SIMBICON: gaits with feedback on the swing hip (coros2010 section 2.4); its gaits are small files.

`gait` reads and checks them, `body` knows a scene's bones, `kernel` is compiled, and `Simbicon` in `simbicon` is the
controller.
"""
