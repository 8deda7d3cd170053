"""Arguments of functions and constructors."""

from __future__ import annotations

from chainer._core.names.elsewhere.row import Name, rows

_ADAMS = 'Adam AdamW AMSGrad AdaBound AMSBound'
_OTHER_OPTIMIZERS = (
    'AdaDelta AdaGrad CorrectedMomentumSGD MSVAG MomentumSGD NesterovAG RMSprop RMSpropGraves SGD '
    'SMORMS3'
)
_OPTIMIZERS = f'{_ADAMS} {_OTHER_OPTIMIZERS}'
_CONVOLUTIONS = (
    'ConvolutionND Convolution1D Convolution2D Convolution3D '
    'DeconvolutionND Deconvolution1D Deconvolution2D Deconvolution3D'
)
_NORMALIZATIONS = 'BatchNormalization GroupNormalization LayerNormalization'
_TRANSFORMERS = 'TransformerEncoderLayer TransformerDecoderLayer'
_RECURRENT = 'LSTM StatelessLSTM GRU StatefulGRU StatelessGRU'
_N_STEP = 'NStepLSTM NStepBiLSTM NStepGRU NStepBiGRU'
_POOLINGS = (
    'max_pooling_nd max_pooling_1d max_pooling_2d max_pooling_3d '
    'average_pooling_nd average_pooling_1d average_pooling_2d average_pooling_3d'
)
_ALONG_AN_AXIS = (
    'argmax argmin average concat cumprod cumsum expand_dims flip log_softmax logsumexp max mean '
    'min normalize prod softmax split_axis squeeze stack sum'
)
_ITERATORS = 'SerialIterator MultithreadIterator MultiprocessIterator'

#: Arguments that other libraries have. The owners are names of functions or classes, parted by
#: spaces.
ARGUMENTS: tuple[Name, ...] = (
    *rows(
        _ADAMS,
        ('lr', 'alpha=rate'),
        ('learning_rate', 'alpha=rate'),
        ('betas', 'beta1=..., beta2=...'),
    ),
    *rows(
        _OTHER_OPTIMIZERS,
        ('learning_rate', 'lr=rate'),
    ),
    *rows(
        'SGD',
        ('alpha', 'lr=rate'),
        ('momentum', 'chainer.optimizers.MomentumSGD(lr, momentum)'),
        ('nesterov', 'chainer.optimizers.NesterovAG(lr, momentum)'),
    ),
    *rows('MomentumSGD', ('nesterov', 'chainer.optimizers.NesterovAG(lr, momentum)')),
    *rows('RMSprop', ('momentum', 'chainer.optimizers.RMSpropGraves(lr, alpha, momentum, eps)')),
    *rows(
        _OPTIMIZERS,
        ('params', 'optimizer.setup(model)'),
        (
            'weight_decay',
            'optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(rate))',
            'after setup(); AdamW decays by weight_decay_rate=',
        ),
        ('clipnorm', 'optimizer.add_hook(chainer.optimizer_hooks.GradientClipping(threshold))'),
    ),
    *rows(
        _CONVOLUTIONS,
        ('kernel_size', 'ksize='),
        ('padding', 'pad=', 'a number of elements'),
        ('dilation', 'dilate='),
        ('padding_mode', 'F.pad(x, pad_width, mode)', 'before the link'),
    ),
    *rows(
        'convolution_2d deconvolution_2d',
        ('weight', 'W'),
        ('bias', 'b'),
        ('padding', 'pad='),
        ('dilation', 'dilate='),
    ),
    *rows(_POOLINGS, ('kernel_size', 'ksize='), ('padding', 'pad=')),
    *rows(_ALONG_AN_AXIS, ('dim', 'axis=')),
    *rows('average max mean min prod sum', ('keepdim', 'keepdims=')),
    *rows(
        'softmax_cross_entropy sigmoid_cross_entropy huber_loss',
        ('reduction', 'reduce='),
    ),
    *rows(
        'softmax_cross_entropy',
        ('weight', 'class_weight='),
        ('ignore_index', 'ignore_label='),
        ('label_smoothing', 't', 'which may be probabilities of the shape of x'),
    ),
    *rows('leaky_relu', ('negative_slope', 'slope=')),
    *rows('embed_id', ('padding_idx', 'ignore_label=')),
    *rows('scaled_dot_product_attention', ('attn_mask', 'mask='), ('dropout_p', 'dropout_ratio=')),
    *rows('vmap', ('in_dims', 'in_axes='), ('out_dims', 'out_axes=')),
    *rows('BERT GPT2', ('input_ids', 'tokens')),
    *rows('BERT', ('attention_mask', 'mask='), ('token_type_ids', 'segments=')),
    *rows(
        f'Linear {_CONVOLUTIONS}',
        ('bias', 'nobias=True', 'for bias=False'),
        ('device', 'link.to_device(device)', 'afterwards'),
        ('dtype', "chainer.using_config('dtype', dtype)", 'when making the link'),
    ),
    *rows('Linear', ('in_features', 'in_size='), ('out_features', 'out_size=')),
    *rows(
        'EmbedID',
        ('num_embeddings', 'in_size='),
        ('embedding_dim', 'out_size='),
        ('padding_idx', 'ignore_label='),
    ),
    *rows('BatchNormalization', ('momentum', 'decay=1 - momentum')),
    *rows(
        _NORMALIZATIONS,
        ('num_features', 'the size, or nothing: it is that of the first input'),
        ('normalized_shape', 'the size, or nothing: it is that of the first input'),
        ('num_groups', 'groups='),
        ('num_channels', 'the size, or nothing: it is that of the first input'),
    ),
    *rows(
        'BatchNormalization',
        ('affine', 'use_gamma=False, use_beta=False', 'for affine=False'),
    ),
    *rows(
        'LayerNormalization',
        ('elementwise_affine', 'F.layer_normalization(x, gamma, beta)', 'with constants'),
    ),
    *rows(
        f'MultiHeadAttention {_TRANSFORMERS}',
        ('num_heads', 'n_heads='),
        ('nhead', 'n_heads='),
        ('embed_dim', 'size='),
        ('d_model', 'size='),
        ('batch_first', 'x', 'the first axis is always the batch'),
    ),
    *rows(
        'MultiHeadAttention',
        ('bias', 'nobias=True', 'for bias=False'),
        ('kdim', 'memory_size=', 'of keys and values'),
        ('vdim', 'memory_size=', 'of keys and values'),
    ),
    *rows(_TRANSFORMERS, ('dim_feedforward', 'hidden_size='), ('layer_norm_eps', 'eps=')),
    *rows(
        f'{_RECURRENT} {_N_STEP}',
        ('input_size', 'in_size='),
        ('hidden_size', 'out_size='),
        ('batch_first', 'L.NStepLSTM', 'which takes a list of sequences'),
    ),
    *rows(
        _RECURRENT,
        ('num_layers', 'L.NStepLSTM(n_layers, in_size, out_size, dropout)', 'or L.NStepGRU'),
        ('dropout', 'F.dropout(x, ratio)', 'before the link'),
        ('bidirectional', 'L.NStepBiLSTM', 'or L.NStepBiGRU'),
    ),
    *rows(
        _N_STEP,
        ('num_layers', 'n_layers='),
        ('bidirectional', 'L.NStepBiLSTM', 'or L.NStepBiGRU'),
    ),
    *rows(
        'dropout',
        ('p', 'ratio='),
        ('training', "chainer.using_config('train', flag)"),
        ('inplace', 'F.dropout(x, ratio)', 'functions never change their inputs'),
    ),
    *rows(
        _ITERATORS,
        (
            'num_workers',
            'chainer.iterators.MultiprocessIterator(dataset, batch_size, n_processes=n)',
        ),
        ('drop_last', 'batch_size', 'batches are equally large, if repeat is true'),
        ('collate_fn', 'chainer.training.updaters.StandardUpdater(it, optimizer, converter=f)'),
        ('pin_memory', 'chainer.dataset.ConcatWithAsyncTransfer', 'a converter'),
        ('sampler', 'order_sampler='),
    ),
)
