from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer import link, reporter
from chainer.functions.evaluation import accuracy
from chainer.functions.loss import softmax_cross_entropy

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.link import Link
    from chainer.variable import Variable


class Classifier(link.Chain):
    """A classifier: a predictor that reports its loss and accuracy.

    Args:
        predictor (~chainer.Link): The network.
        lossfun (callable): Loss function of the prediction and the labels. The
            default is :func:`~chainer.functions.softmax_cross_entropy`.
        accfun (callable): Function that computes the accuracy from the
            prediction and the labels. The default is
            :func:`~chainer.functions.accuracy`.
        label_key (int or str): Argument with the labels: a position among the
            positional arguments, or the name of a keyword argument. The
            predictor takes all others.

    Raises:
        TypeError: ``label_key`` is neither an int nor a str.

    Attributes:
        predictor (~chainer.Link): The network.
        lossfun (callable): Loss function.
        accfun (callable): Function that computes the accuracy.
        y (~chainer.Variable): Prediction of the last call, of the shape that the predictor gives
            it.
        loss (~chainer.Variable): Loss of the last call, by default a scalar.
        accuracy (~chainer.Variable): Accuracy of the last call.
        compute_accuracy (bool): If ``False``, does not compute the accuracy.

    .. admonition:: Example

        >>> model = L.Classifier(L.Linear(2, 2, initialW=np.array([[9, 0], [0, 9]], np.float32)))
        >>> x, t = np.array([[1, 0], [0, 1]], np.float32), np.array([0, 0], np.int32)
        >>> reporter = chainer.Reporter()
        >>> reporter.add_observer('main', model)
        >>> with reporter:
        ...     loss = model(x, t)
        >>> float(model.accuracy.array), round(float(loss.array), 2)
        (0.5, 4.5)
        >>> sorted(reporter.observation)
        ['main/accuracy', 'main/loss']

    """

    compute_accuracy = True

    y: Any
    loss: Any
    accuracy: Any

    def __init__(
        self,
        predictor: Link,
        lossfun: Callable[..., Any] = softmax_cross_entropy.softmax_cross_entropy,
        accfun: Callable[..., Any] = accuracy.accuracy,
        label_key: int | str = -1,
    ) -> None:
        if not isinstance(label_key, (int, str)):
            raise TypeError(f'label_key must be int or str, but is {type(label_key)}')
        super().__init__()
        self.lossfun = lossfun
        self.accfun = accfun
        self.y = None
        self.loss = None
        self.accuracy = None
        self.label_key = label_key
        with self.init_scope():
            self.predictor: Any = predictor

    def forward(self, *args: Any, **kwargs: Any) -> Variable:
        """Computes and reports the loss and the accuracy.

        Args:
            args, kwargs: Arguments of the predictor, and the labels.

        Returns:
            ~chainer.Variable: The loss.

        Raises:
            ValueError: The labels are missing.

        """
        t, args = self._take_label(args, kwargs)
        self.y = None
        self.loss = None
        self.accuracy = None
        self.y = self.predictor(*args, **kwargs)
        self.loss = self.lossfun(self.y, t)
        reporter.report({'loss': self.loss}, self)
        if self.compute_accuracy:
            self.accuracy = self.accfun(self.y, t)
            reporter.report({'accuracy': self.accuracy}, self)
        return self.loss

    def _take_label(self, args, kwargs):
        """Returns the label and the other positional arguments."""
        if not isinstance(self.label_key, int):
            if self.label_key not in kwargs:
                raise ValueError(f'Label key "{self.label_key}" is not found')
            return kwargs.pop(self.label_key), args
        if not -len(args) <= self.label_key < len(args):
            raise ValueError(
                f'Label key {self.label_key} is out of bounds: {len(args)} positional '
                'arguments were given'
            )
        key = range(len(args))[self.label_key]
        return args[key], args[:key] + args[key + 1 :]
