from chainer import link, variable


class Parameter(link.Link):
    """A link that holds one parameter and returns it.

    Args:
        array: Initial value.

    Attributes:
        W (~chainer.Parameter): The parameter.

    """

    def __init__(self, array):
        super().__init__()
        with self.init_scope():
            self.W = variable.Parameter(array)

    def forward(self, volatile='off'):
        """Returns the parameter.

        Args:
            volatile: Not used.

        """
        return self.W
