from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy

from chainer import backend, variable
from chainer.training import _files, _serialization, extension, util
from chainer.training.extensions import plot_report
from chainer.training.extensions._statistics import (
    Reservoir as Reservoir,
    Statistician as Statistician,
)
from chainer.utils import argument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.link import Link
    from chainer.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer
    from chainer.types import TriggerSpec
    from chainer.variable import Variable


class VariableStatisticsPlot(extension.Extension):
    """Extension that plots statistics of variables over the iterations.

    Each call computes statistics over the elements of all targets together and adds them to a
    random sample of bounded size. When the trigger fires, the extension plots the sample. Without
    matplotlib, it warns and plots nothing.

    Args:
        targets: Variable, link, or list of both, to observe.
        max_sample_size (int): Size of the sample.
        report_data (bool): If true, observes values.
        report_grad (bool): If true, observes gradients.
        plot_mean (bool): If true, plots the mean.
        plot_std (bool): If true, plots the standard deviation.
        percentile_sigmas (float or tuple of floats): Percentiles to plot.
        trigger: When to write the plot.
        filename (str): Name of the file in the output folder, ``statistics.png`` by default.
        figsize (tuple of ints): Size of the figure, see matplotlib.
        marker (str): Matplotlib's marker at each point.
        grid (bool): If true, draws a grid.

    Raises:
        ValueError: If there is nothing to observe or to plot, or if a target is neither a
            variable nor a link.

    .. admonition:: Example

        >>> import os
        >>> trainer.extend(chainer.training.extensions.VariableStatisticsPlot(
        ...     model, trigger=(2, 'epoch'), filename='statistics.svg'))
        >>> trainer.run()
        >>> os.listdir(trainer.out)
        ['statistics.svg']

    """

    def __init__(
        self,
        targets: Variable | Link | Sequence[Variable | Link],
        max_sample_size: int = 1000,
        report_data: bool = True,
        report_grad: bool = True,
        plot_mean: bool = True,
        plot_std: bool = True,
        percentile_sigmas: float | Sequence[float] = (
            0,
            0.13,
            2.28,
            15.87,
            50,
            84.13,
            97.72,
            99.87,
            100,
        ),
        trigger: TriggerSpec = (1, 'epoch'),
        filename: str | None = None,
        figsize: tuple[int, ...] | None = None,
        marker: str | None = None,
        grid: bool = True,
        **kwargs: Any,
    ) -> None:
        # file_name is the name of the argument in old versions.
        (file_name,) = argument.parse_kwargs(kwargs, ('file_name', 'statistics.png'))
        plot_report.PlotReport.available()
        self._keys = [
            key for key, wanted in (('data', report_data), ('grad', report_grad)) if wanted
        ]
        if not self._keys:
            raise ValueError('report_data or report_grad must be true')
        n_percentiles = 0 if percentile_sigmas is None else numpy.size(percentile_sigmas)
        if not (plot_mean or plot_std or n_percentiles):
            raise ValueError('plot_mean, plot_std or percentile_sigmas must be given')
        self._vars = _get_variables(targets)
        self._statistician = Statistician(plot_mean, plot_std, percentile_sigmas)
        self._percentile_sigmas = percentile_sigmas
        # A row of a sample: [mean], [std], percentiles.
        self._columns = (
            ['mean'] * bool(plot_mean)
            + ['std'] * bool(plot_std)
            + ['percentile'] * bool(n_percentiles)
        )
        n_columns = bool(plot_mean) + bool(plot_std) + n_percentiles
        self._samples = {key: Reservoir(max_sample_size, (n_columns,)) for key in self._keys}
        self._n_percentiles = n_percentiles
        self._trigger = util.get_trigger(trigger)
        self._filename = file_name if filename is None else filename
        self._figsize = figsize
        self._marker = marker
        self._grid = grid

    @staticmethod
    def available() -> bool:
        """Returns whether matplotlib is available; warns if it is not."""
        return plot_report.PlotReport.available()

    def __call__(self, trainer: Trainer) -> None:
        for key in self._keys:
            arrays = [var.array if key == 'data' else var.grad for var in self._vars]
            arrays = [
                backend.CpuDevice().send(array).ravel() for array in arrays if array is not None
            ]
            if arrays:
                stats = self._statistician(numpy.concatenate(arrays), dtype=numpy.float32)
                row = numpy.concatenate([numpy.ravel(stats[name]) for name in self._columns])
                self._samples[key].add(row, idx=trainer.updater.iteration)
        if self._trigger(trainer) and plot_report.PlotReport._has_matplotlib():
            path = os.path.join(trainer.out, self._filename)
            with _files.atomic_file(path, durable=False) as temp_path:
                self.save_plot_using_module(temp_path, plot_report)

    def save_plot_using_module(self, file_path: str, plt: Any) -> None:
        """Plots the samples to a file.

        Args:
            file_path (str): Path of the file.
            plt: Module that makes the figure: ``matplotlib.pyplot``, or a module with a
                function ``make_figure``.

        """
        make_figure = getattr(plt, 'make_figure', None) or plt.figure
        n_columns = len(self._keys)
        fig = make_figure(figsize=self._figsize)
        all_axes = fig.subplots(len(self._columns), n_columns, squeeze=False)
        for j, key in enumerate(self._keys):
            idxs, data = self._samples[key].get_data()
            start = 0
            for i, name in enumerate(self._columns):
                stop = start + (self._n_percentiles if name == 'percentile' else 1)
                axes = all_axes[i, j]
                axes.plot(idxs, data[:, start:stop], marker=self._marker)
                if name == 'percentile' and j == n_columns - 1:
                    self._add_legend(axes)
                if j == 0:
                    axes.set_ylabel(name)
                if self._grid:
                    axes.grid()
                start = stop
            all_axes[0, j].set_title(key)
            all_axes[-1, j].set_xlabel('iteration')
        fig.savefig(file_path, bbox_inches='tight')  # with the legend beside the axes
        if hasattr(plt, 'close'):
            plt.close(fig)

    def _add_legend(self, axes):
        axes.legend(
            [str(p) for p in numpy.atleast_1d(self._percentile_sigmas)],
            fontsize='x-small',
            bbox_to_anchor=(1.02, 1),
            loc='upper left',
            borderaxespad=0.0,
        )

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Reads or writes the samples."""
        parts: dict[str, Any] = {f'_samples/{key}': sample for key, sample in self._samples.items()}
        parts['_trigger'] = self._trigger
        _serialization.serialize_extras(parts, serializer)


def _get_variables(targets):
    if not isinstance(targets, (list, tuple)):
        targets = [targets]
    variables = []
    for target in targets:
        if isinstance(target, variable.Variable):
            variables.append(target)
        elif hasattr(target, 'params'):
            variables.extend(target.params())
        else:
            raise ValueError(
                f'targets must be variables and links, but a {type(target).__name__} is given'
            )
    return variables
