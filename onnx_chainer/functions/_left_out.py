"""Functions without a converter, and why."""

from __future__ import annotations

_RANDOM = 'it draws at random'
_SPECIAL = 'ONNX has no such special function, and no series for all arguments is short'
_REGIONS = 'ONNX has no pooling with these bins'

#: Reasons by the names of functions of ``chainer.functions`` that are not exported.
NOT_EXPORTED = {
    'argmax_crf1d': 'its path is computed on arrays, not by functions',
    'batch_renormalization': 'its corrections depend on statistics that change in training',
    'connectionist_temporal_classification': 'its paths are computed on arrays, not by functions',
    'decorrelated_batch_normalization': 'ONNX has no eigenvectors',
    'discriminative_margin_based_clustering_loss': (
        'its instances are computed on arrays, not by functions'
    ),
    'gaussian': _RANDOM,
    'gumbel_softmax': _RANDOM,
    'negative_sampling': _RANDOM,
    'polygamma': _SPECIAL,
    'roi_average_pooling_2d': _REGIONS,
    'roi_max_align_2d': _REGIONS,
    'roi_max_pooling_2d': _REGIONS,
    'zeta': _SPECIAL,
}

#: The same by the names of their function nodes.
NODES_NOT_EXPORTED = {
    'BatchRenormalizationFunction': NOT_EXPORTED['batch_renormalization'],
    'ConnectionistTemporalClassification': NOT_EXPORTED['connectionist_temporal_classification'],
    'DecorrelatedBatchNormalization': NOT_EXPORTED['decorrelated_batch_normalization'],
    'Gaussian': _RANDOM,
    'NegativeSamplingFunction': _RANDOM,
    'PolyGamma': _SPECIAL,
    'ROIAveragePooling2D': _REGIONS,
    'ROIMaxAlign2D': _REGIONS,
    'ROIMaxPooling2D': _REGIONS,
    'Zeta': _SPECIAL,
}
