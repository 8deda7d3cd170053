"""Models whose parameters are divided between the ranks.

A parameter keeps its :class:`~.parts.Part`. The hook of :mod:`.hook` gathers the parameters of a
link when it is called, in memory of :mod:`.memory`, which is released after the call, and filled
again when backward comes to the functions of :mod:`.functions` around the call. In a
:class:`~.step.Step`, parameters are sent before they are needed, and gradients are not waited for.
"""
