"""The GPU targets and families that AMD knows.

`table.py` and `families.py` are links to those in `lib/gpus`: change them there.
"""
