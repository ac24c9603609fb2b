"""The GPU targets and families that AMD knows: a copy of the build's own table and of what reads it."""
