"""Checkpoints that any number of ranks can load.

``<name>.<iteration>.<rank>.of.<size>.safetensors`` is what one rank has written, and
``<name>.<iteration>.of.<size>.json``, the manifest, is written last: without it, there is no
checkpoint. :mod:`.layout` divides the arrays between the ranks, :mod:`.capture` copies the part of
one, :mod:`.files` knows the files, :mod:`.writer` writes in the background, :mod:`.memory` keeps
the parts in memory, too, :mod:`.restore` puts them together, and :mod:`.samples` continues epochs.
"""
