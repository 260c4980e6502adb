"""The lines around whatever a host's hook puts before the model. Hosts keep that text in their transcripts, some
with its markup escaped, so only a plain line tells the evidence reader what was never said.

A module of its own, because a hook has no time to load the other values.
"""

BEGIN = "[noforgetti memory begin]"
END = "[noforgetti memory end]"
