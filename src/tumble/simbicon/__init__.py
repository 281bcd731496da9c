"""SIMBICON: gaits with feedback on the swing hip (coros2010 section 2.4); its gaits are small files."""
