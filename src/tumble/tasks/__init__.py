"""Tasks over steps: which one to take next, by exploration and fitted value iteration (coros2010 chapter 4).

`actions` says what an action is, `gaits` has steps of gaits and mixes of two, `strides` those of the generalized
walker, `kinds` both by name. `metric` tells how far two states are, `exploring` tries all actions from all states
(Algorithm 1), `iterating` finds what each is worth (Algorithm 2), `policy` keeps the best in a file, and
`Tasked` in `tasked` acts by it, once a step. `task` says what a task is, `library` has the thesis's six.
"""
