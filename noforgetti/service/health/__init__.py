"""Health: what is wrong with a memory, its machine and its hosts, said by name and with what mends it.

Looking changes nothing; `mending.mend` is the one that writes.
"""
