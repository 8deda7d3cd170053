"""Trainer extensions.

In the examples ``trainer``, ``updater``, ``model`` and ``optimizer`` are those of
:mod:`chainer.training`.
"""

from typing import TYPE_CHECKING

from chainer._core.names import hints as _hints
from chainer.training.extensions import (
    _ipynb,
    computational_graph as computational_graph,  # NOQA
    evaluator as evaluator,  # NOQA
    plot_report as plot_report,  # NOQA
    print_report as print_report,  # NOQA
    progress_bar as progress_bar,  # NOQA
    snapshot_writers as snapshot_writers,  # NOQA
    util as util,  # NOQA
    variable_statistics_plot as variable_statistics_plot,  # NOQA
)
from chainer.training.extensions._snapshot import (
    snapshot as snapshot,  # NOQA
    snapshot_object as snapshot_object,  # NOQA
)
from chainer.training.extensions.computational_graph import DumpGraph as DumpGraph  # NOQA
from chainer.training.extensions.cosine_shift import CosineShift as CosineShift  # NOQA
from chainer.training.extensions.evaluator import Evaluator as Evaluator  # NOQA
from chainer.training.extensions.exponential_moving_average import (
    ExponentialMovingAverage as ExponentialMovingAverage,  # NOQA
)
from chainer.training.extensions.exponential_shift import ExponentialShift as ExponentialShift  # NOQA
from chainer.training.extensions.fail_on_nonnumber import FailOnNonNumber as FailOnNonNumber  # NOQA
from chainer.training.extensions.inverse_shift import InverseShift as InverseShift  # NOQA
from chainer.training.extensions.json_lines_report import JsonLinesReport as JsonLinesReport  # NOQA
from chainer.training.extensions.linear_shift import LinearShift as LinearShift  # NOQA
from chainer.training.extensions.log_report import LogReport as LogReport  # NOQA
from chainer.training.extensions.logger_report import LoggerReport as LoggerReport  # NOQA
from chainer.training.extensions.micro_average import MicroAverage as MicroAverage  # NOQA
from chainer.training.extensions.multistep_shift import MultistepShift as MultistepShift  # NOQA
from chainer.training.extensions.optuna_pruning import OptunaPruning as OptunaPruning  # NOQA
from chainer.training.extensions.parameter_statistics import (
    ParameterStatistics as ParameterStatistics,  # NOQA
)
from chainer.training.extensions.plot_report import PlotReport as PlotReport  # NOQA
from chainer.training.extensions.polynomial_shift import PolynomialShift as PolynomialShift  # NOQA
from chainer.training.extensions.profile_report import ProfileReport as ProfileReport  # NOQA
from chainer.training.extensions.step_shift import StepShift as StepShift  # NOQA
from chainer.training.extensions.tensorboard_report import TensorBoardReport as TensorBoardReport  # NOQA
from chainer.training.extensions.value_observation import (
    observe_lr as observe_lr,  # NOQA
    observe_value as observe_value,  # NOQA
)
from chainer.training.extensions.variable_statistics_plot import (
    VariableStatisticsPlot as VariableStatisticsPlot,  # NOQA
)
from chainer.training.extensions.variable_unchain import unchain_variables as unchain_variables  # NOQA
from chainer.training.extensions.warmup_shift import WarmupShift as WarmupShift  # NOQA

dump_graph = DumpGraph

if not TYPE_CHECKING and _ipynb.is_notebook():
    from chainer.training.extensions.print_report_notebook import (  # NOQA
        PrintReportNotebook as PrintReport,
    )
    from chainer.training.extensions.progress_bar_notebook import (  # NOQA
        ProgressBarNotebook as ProgressBar,
    )
else:
    from chainer.training.extensions.print_report import PrintReport as PrintReport
    from chainer.training.extensions.progress_bar import ProgressBar as ProgressBar


def __getattr__(name: str) -> object:
    raise _hints.of_module(__name__, name)
