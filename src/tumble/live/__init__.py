"""The live loop: commands come in, a controller chooses, the world acts, a Frame is published and recorded.

Nothing here knows of scenarios, browsers or terminals.
"""
