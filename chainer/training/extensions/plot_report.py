from __future__ import annotations

import io
import json
import os
import warnings
from typing import TYPE_CHECKING, Any

import numpy

from chainer import reporter, serializer as serializer_module
from chainer._core.models import saving
from chainer.training import _files, _serialization, extension, util
from chainer.training.extensions import _ipynb
from chainer.utils import argument

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from chainer.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer
    from chainer.types import TriggerSpec


def _check_available():
    try:
        import matplotlib  # NOQA
    except ImportError:
        warnings.warn(
            'matplotlib is not installed on your environment, so nothing will be plotted at '
            'this time. Please install matplotlib to plot figures.\n\n'
            '  $ pip install matplotlib\n'
        )
        return False
    return True


def make_figure(**kwargs: Any) -> Any:
    """Makes a figure without a display and without pyplot's global state."""
    from matplotlib import figure
    from matplotlib.backends import backend_agg

    fig = figure.Figure(**kwargs)
    backend_agg.FigureCanvasAgg(fig)
    return fig


class PlotReport(extension.Extension):
    """Extension that plots observed values to an image file.

    A trigger sets the intervals. At the end of each interval, the extension adds the means and
    rewrites the file. Without matplotlib, it warns and plots nothing. It needs no display. In a
    Jupyter notebook, it also shows the plot, which changes in its place.

    Args:
        y_keys (iterable of strs): Keys of the values to plot.
        x_key (str): Key of the value on the x axis; ``'iteration'`` and ``'epoch'`` are
            always available.
        trigger: Trigger that ends the intervals. (The trainer must call the extension after
            each iteration.)
        postprocess: Function of the figure, its axes and the summary of the interval, called
            before the figure is saved.
        filename (str): Name of the file in the output folder, ``plot.png`` by default; its
            suffix sets the format.
        marker (str): Matplotlib's marker at each point; ``None`` for none.
        grid (bool): If true, draws a grid.

    .. admonition:: Example

        >>> import os
        >>> trainer.extend(chainer.training.extensions.PlotReport(
        ...     ['main/loss'], trigger=(2, 'epoch'), filename='loss.svg'))
        >>> trainer.run()
        >>> os.listdir(trainer.out)
        ['loss.svg']

    """

    def __init__(
        self,
        y_keys: Iterable[str],
        x_key: str = 'iteration',
        trigger: TriggerSpec = (1, 'epoch'),
        postprocess: Callable[..., Any] | None = None,
        filename: str | None = None,
        marker: str = 'x',
        grid: bool = True,
        **kwargs: Any,
    ) -> None:
        # file_name is the name of the argument in old versions.
        (file_name,) = argument.parse_kwargs(kwargs, ('file_name', 'plot.png'))
        _check_available()
        self._x_key = x_key
        self._y_keys = [y_keys] if isinstance(y_keys, str) else list(y_keys)
        self._trigger = util.get_trigger(trigger)
        self._file_name = file_name if filename is None else filename
        self._postprocess = postprocess
        self._marker = marker
        self._grid = grid
        self._summary = reporter.DictSummary()
        self._data: dict[str, list[Any]] = {key: [] for key in self._y_keys}
        self._is_in_notebook = _ipynb.is_notebook()
        self._output: _ipynb.Output | None = None

    @staticmethod
    def available() -> bool:
        """Returns whether matplotlib is available; warns if it is not."""
        return _check_available()

    def __call__(self, trainer: Trainer) -> None:
        observation = trainer.observation
        keys = [*self._y_keys, self._x_key]
        self._summary.add({key: observation[key] for key in keys if key in observation})
        if not (trainer.is_before_training or self._trigger(trainer)):
            return

        stats = {key: float(value) for key, value in self._summary.compute_mean().items()}
        stats['epoch'] = trainer.updater.epoch
        stats['iteration'] = trainer.updater.iteration
        x = stats[self._x_key]
        for key in self._y_keys:
            if key in stats:
                self._data[key].append((x, stats[key]))
        summary, self._summary = self._summary, reporter.DictSummary()
        if PlotReport._has_matplotlib():
            self._plot(os.path.join(trainer.out, self._file_name), summary)

    @staticmethod
    def _has_matplotlib():
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')  # the constructor has warned
            return _check_available()

    def _plot(self, path, summary):
        fig = make_figure()
        axes = fig.add_subplot(111)
        axes.set_xlabel(self._x_key)
        if self._grid:
            axes.grid()
        for key in self._y_keys:
            if self._data[key]:
                xy = numpy.array(self._data[key])
                axes.plot(xy[:, 0], xy[:, 1], marker=self._marker, label=key)
        if not axes.has_data():
            return
        if self._postprocess is not None:
            self._postprocess(fig, axes, summary)
        legend = axes.legend(
            bbox_to_anchor=(0, 1.02), loc='lower left', borderaxespad=0.0, ncol=2, frameon=False
        )
        with _files.atomic_file(path, durable=False) as temp_path:
            fig.savefig(temp_path, bbox_extra_artists=(legend,), bbox_inches='tight')
        if self._is_in_notebook:
            self._show(fig, legend)

    def _show(self, fig, legend):
        """Shows the figure in the output of the cell, in the place of the last one."""
        png = io.BytesIO()
        fig.savefig(png, format='png', bbox_extra_artists=(legend,), bbox_inches='tight')
        if self._output is None:
            self._output = _ipynb.Output()
        self._output.show_png(png.getvalue())

    def serialize(self, serializer: AbstractSerializer) -> None:
        key = f'_plot_{self._file_name}'
        if isinstance(serializer, serializer_module.Serializer):
            serializer(key, json.dumps(self._data))
        else:
            data = saving.load_json(serializer, key, dict, list, self._data)
            # The script may have other keys now.
            self._data = {key: data.get(key, []) for key in self._y_keys}
        _serialization.serialize_extras(
            {'_trigger': self._trigger, '_summary': self._summary}, serializer
        )
