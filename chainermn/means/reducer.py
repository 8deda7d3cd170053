"""The reducer, which averages gradients over the ranks."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from chainermn.means import buckets as buckets_module, dtypes, staging
from chainermn.means.host_messages import messages_on
from chainermn.means.own_means import OwnMeans
from chainermn.means.residuals import Residuals
from chainermn.means.shared_rows import SharedRows
from chainermn.means.transport import Pending

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from chainer.variable import Parameter
    from chainermn.means.buckets import Bucket
    from chainermn.means.shared_rows import Slots
    from chainermn.means.transport import Channel, Transport

# Models whose buckets are cached: a generator and a discriminator, for example, train in turn.
_N_MODELS = 4


class Reducer:
    """Replaces gradients by their means over the ranks.

    Args:
        channel (Channel): Where the messages travel.
        on_gpu (Transport): Transport of gradients on GPUs.
        bucket_bytes (int): Most bytes of several gradients that are sent together; ``None`` for
            any number.

    Attributes:
        dtype: Dtype in which gradients are sent, see :mod:`chainermn.means.dtypes`. ``None`` for
            the dtype of the gradients. A new one drops the residuals.
        residuals (Residuals): What 8-bit messages have left out of gradients.
        channel (Channel): Where the messages travel.
        has_prepared (bool): Whether :meth:`prepare_own_means` has been called.

    """

    def __init__(
        self, channel: Channel, on_gpu: Transport, bucket_bytes: int | None = None
    ) -> None:
        self.channel = channel
        self._on_gpu = on_gpu
        self._on_host = messages_on(channel)
        self._shared = SharedRows(channel)
        self._bucket_bytes = bucket_bytes
        self._dtype: str | None = None
        self.residuals: Residuals = Residuals()
        self._buckets: dict[Any, list[Bucket]] = {}
        self._staging: staging.Staging | None = None
        self.has_prepared: bool = False

    @property
    def dtype(self) -> str | None:
        return self._dtype

    @dtype.setter
    def dtype(self, value: str | None) -> None:
        self._on_gpu.check_dtype(value)
        self._dtype = value
        self._forget()
        self.residuals.clear()

    def average(
        self,
        params: Sequence[Parameter],
        call: str = 'multi_node_mean_grad',
        keeps_dtypes: bool = False,
    ) -> None:
        """Replaces the gradients of parameters by their means; collective.

        Args:
            params: Parameters with gradients, the same ones in the same order on all ranks.
            call: Name of the call, for debug mode.
            keeps_dtypes: Whether to send gradients in their own dtypes, whatever :attr:`dtype` is.

        """
        buckets = self._buckets_of(params, None if keeps_dtypes else self._dtype)
        self.check(call, buckets)
        if self.channel.size > 1:
            self._shared.prepare(buckets)
            for mean in self.start(buckets):
                mean.wait()

    def _buckets_of(self, params: Sequence[Parameter], setting: str | None) -> list[Bucket]:
        """Buckets of parameters, with the memory of the previous call for the same ones."""
        # A parameter that has moved to another device needs another bucket. The buckets keep their
        # parameters alive, so no other one gets their ids.
        key = setting, *[(id(param), param.device) for param in params]
        buckets = self._buckets.get(key)
        if buckets is None:
            buckets = self._divide(params, self._bucket_bytes, setting)
            # Which of them will train again is not known, so all make room.
            if len(self._buckets) == _N_MODELS:
                self._forget()
            self._buckets[key] = buckets
        return buckets

    def divide(self, params: Iterable[Parameter]) -> list[Bucket]:
        """Divides parameters into buckets as :meth:`average` does, without shared memory."""
        return self._divide(params, self._bucket_bytes, self._dtype)

    def _divide(
        self, params: Iterable[Parameter], limit: int | None, setting: str | None
    ) -> list[Bucket]:
        return buckets_module.divide(params, setting, limit, self.channel.size, self.residuals)

    def divide_groups(self, groups: Iterable[Sequence[Parameter]]) -> list[list[Bucket]]:
        """Divides groups of parameters that start one after the other into buckets; collective.

        Within a group, small gradients are joined and large ones are not.

        Args:
            groups: Groups of parameters, the same ones on all ranks.

        """
        divided = [self._divide(group, None, self._dtype) for group in groups]
        self._shared.prepare(list(itertools.chain(*divided)))
        return divided

    def make_slots(self, buckets: Sequence[Bucket]) -> Slots | None:
        """Makes memory in which backward writes large gradients; collective.

        Returns:
            The memory, or ``None`` if there is none that all ranks share.

        """
        return self._shared.make_slots(buckets)

    def check(self, call: str, buckets: Iterable[Bucket]) -> None:
        """Raises an error in debug mode if the ranks make different calls or have other buckets.

        Args:
            call (str): Name of the call.
            buckets: Buckets.

        Raises:
            RuntimeError: If they differ.

        """
        checker = self.channel.checker
        if checker.is_on():
            checker.check(call, [[(b.dtype.name, b.wire, b.size) for b in buckets]])

    def start(self, buckets: Sequence[Bucket]) -> list[Pending]:
        """Starts to replace the gradients of buckets by their means; collective.

        The gradients must not be used before :meth:`Pending.wait` of all results.

        Args:
            buckets: Buckets, the same ones on all ranks.

        Returns:
            list: Pending means.

        """
        # Each bucket starts as soon as it is packed, so packing overlaps with sending. Buckets in
        # shared memory start together: one message announces all of them.
        groups = [[bucket] for bucket in buckets if not bucket.rows]
        shared = [bucket for bucket in buckets if bucket.rows]
        if shared:
            groups.append(shared)
        return [Pending(self.transport_of(group[0]).steps(group)) for group in groups]

    def own_means(self, arrays: Sequence[Any], all_parts: Sequence[Sequence[slice]]) -> OwnMeans:
        """Starts to compute this rank's parts of the means of arrays on the host; collective.

        The means are those of :meth:`average`, to the bit.

        Args:
            arrays: Flat NumPy arrays, of the same sizes and dtypes on all ranks.
            all_parts: For each of them, the elements that each rank gets.

        Raises:
            ValueError: If :attr:`dtype` is ``'int8'``.

        """
        self.refuse_own_int8_means()
        # A transport of its own, whose memory goes with it: these are arrays of many sizes.
        messages = messages_on(self.channel)
        return OwnMeans(messages, self._staging, self.channel.rank, self._dtype, arrays, all_parts)

    def refuse_int8(self, reason: str) -> None:
        """Raises an error if gradients are sent as 8 bits.

        Args:
            reason: Why they cannot be.

        Raises:
            ValueError: If they are.

        """
        if self._dtype == dtypes.INT8:
            raise ValueError(f"allreduce_grad_dtype must not be 'int8' here: {reason}")

    def refuse_own_int8_means(self) -> None:
        """Raises an error if :meth:`own_means` would have to be sent as 8 bits.

        Raises:
            ValueError: If so.

        """
        self.refuse_int8('gradients are divided, and their residuals would have the whole size')

    def prepare_own_means(self) -> None:
        """Makes memory that the ranks share for :meth:`own_means`, if possible; collective.

        Without a call of this method, they go by messages.
        """
        self._staging = staging.make(self.channel)
        self.has_prepared = True

    def transport_of(self, bucket: Bucket) -> Transport:
        """Chooses how a bucket travels."""
        if bucket.rows:
            return self._shared
        return self._on_host if bucket.on_host else self._on_gpu

    def _forget(self) -> None:
        self._buckets.clear()
        self._on_host.forget()
        self._shared.forget()
        self._on_gpu.forget()

    def close(self) -> None:
        """Frees what the transports hold; collective. The reducer must not be used afterwards."""
        self._forget()
        self._staging = None
        self._on_gpu.close()
