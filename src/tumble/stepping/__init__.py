"""Constrained walking: steps that land where they are wanted, planned ahead (coros2010 chapter 3).

A `Base` is a gait with the few numbers of it that each step may choose, its action; `stepper` has rows take steps by
actions of their own and reads what came of it. `synthesis` finds actions for stepping stones by optimisation, and
`Examples` keeps them in files; what plans with them reads only those. No scenario and no drawing lives here.
"""
