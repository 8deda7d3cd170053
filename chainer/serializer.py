"""The protocol between objects and the stores of their state.

An object with state defines ``serialize(serializer)``, which calls
``x = serializer('x', x)`` for every value. The same method saves (the serializer
stores the value and returns it) and loads (the deserializer returns the stored
value, or fills the given array in place).
"""

from __future__ import annotations

from typing import Any


class AbstractSerializer:
    """Base class of serializers and deserializers.

    .. admonition:: Example

        >>> class Names(chainer.AbstractSerializer):  # collects what would be saved
        ...     def __init__(self, path=''):
        ...         self.path = path
        ...     def __getitem__(self, key):
        ...         return Names(self.path + key + '/')
        ...     def __call__(self, key, value):
        ...         print(self.path + key)
        ...         return value
        >>> chainer.Sequential(L.Linear(3, 2)).serialize(Names())
        0/W
        0/b

    """

    def __getitem__(self, key: str) -> AbstractSerializer:
        """Returns the serializer of a child object.

        Args:
            key (str): Name of the child.

        """
        raise NotImplementedError

    def __call__(self, key: str, value: Any) -> Any:
        """Saves or loads one value.

        Args:
            key (str): Name of the value.
            value: The current value: an array, a scalar, a string or ``None``.

        Returns:
            When saving, ``value``. When loading, the stored value; if ``value``
            is an array, it is filled in place and returned.

        """
        raise NotImplementedError


class Serializer(AbstractSerializer):
    """Base class of serializers, which save.

    .. admonition:: Example

        >>> serializer = chainer.serializers.DictionarySerializer()
        >>> isinstance(serializer, chainer.Serializer)
        True
        >>> serializer.save(L.Linear(3, 2))
        >>> sorted(serializer.target)
        ['W', 'b']

    """

    def save(self, obj: Any) -> None:
        """Saves an object by ``obj.serialize(self)``."""
        obj.serialize(self)


class Deserializer(AbstractSerializer):
    """Base class of deserializers, which load.

    .. admonition:: Example

        >>> saved = {'W': np.ones((2, 3)), 'b': np.zeros(2)}
        >>> deserializer = chainer.serializers.NpzDeserializer(saved)
        >>> isinstance(deserializer, chainer.Deserializer)
        True
        >>> link = L.Linear(3, 2)
        >>> deserializer.load(link)
        >>> link.W
        variable W([[1., 1., 1.],
                    [1., 1., 1.]])

    """

    # Undo functions shared by a deserializer and its children during the load of
    # a whole file; see chainer.serializers._loading.
    _journal = None

    def load(self, obj: Any) -> None:
        """Loads an object by ``obj.serialize(self)``."""
        obj.serialize(self)
