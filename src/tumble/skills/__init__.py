"""Skills: what a walker can do with its hands and feet, and scripts of them (coros2010 section 5.5.4)."""
