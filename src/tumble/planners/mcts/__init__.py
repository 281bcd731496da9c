"""Tree search informed by a forest and a network that learn (rajamaki2017)."""
