"""Hints for what other libraries call things."""

import importlib
import inspect
import pickle
import re

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer._core.names import hints
from chainer._core.names.names_elsewhere import NAMES, PYTORCH

MODEL = chainer.Sequential(L.Linear(2, 2))
OWNERS = {
    'Link': MODEL,
    'Optimizer': chainer.optimizers.SGD().setup(MODEL),
    'Variable': chainer.Variable(np.ones(2, np.float32)),
}
SCOPE = {
    'F': F,
    'L': L,
    'np': np,
    'chainer': chainer,
    'model': MODEL,
    'optimizer': OWNERS['Optimizer'],
    'x': OWNERS['Variable'],
}


def _owner(row):
    return OWNERS[row.owner] if row.owner in OWNERS else importlib.import_module(row.owner)


@pytest.mark.parametrize('row', NAMES, ids=lambda row: f'{row.owner}.{row.theirs}')
def test_name(row):
    owner = _owner(row)
    assert not hasattr(owner, row.theirs)
    assert row.theirs not in dir(owner)
    assert getattr(owner, row.theirs, 1) == 1
    with pytest.raises(AttributeError, match=f'has no attribute {row.theirs!r}; in ') as info:
        getattr(owner, row.theirs)
    assert row.ours in str(info.value)
    assert info.value.name == row.theirs
    assert row.owner in PYTORCH


@pytest.mark.parametrize('row', NAMES, ids=lambda row: f'{row.owner}.{row.theirs}')
def test_what_is_named_exists(row):
    for text in row.ours, row.remark:
        for path in re.findall(r'(?<![\w./])(?:F|L|np|chainer|model|optimizer|x)(?:\.\w+)+', text):
            first, *names = path.split('.')
            value = SCOPE[first]
            for name in names:
                value = getattr(value, name)


def test_names_are_listed_once():
    keys = [(row.owner, row.theirs) for row in NAMES]
    assert sorted(set(keys)) == sorted(keys)


MODULES = [importlib.import_module(name) for name in PYTORCH if name not in OWNERS]


@pytest.mark.parametrize('owner', [*OWNERS.values(), *MODULES])
def test_other_missing_names_have_no_hint(owner):
    with pytest.raises(AttributeError, match='no attribute .no_such_thing.$'):
        owner.no_such_thing  # noqa: B018


class Trainable:
    mode = None

    def train(self):
        return 'of the mixin'

    @classmethod
    def to(cls):
        return cls

    @property
    def state_dict(self):
        return self.missing


class WithMixin(chainer.Chain, Trainable):
    pass


class Overriding(chainer.Chain):
    def train(self):
        return 'of the class'


class Delegating(chainer.Chain):
    def __getattr__(self, name):
        if name.startswith('_'):
            raise AttributeError(name)
        return 'delegated ' + name


def test_names_of_users_come_first():
    assert WithMixin().train() == 'of the mixin'
    assert WithMixin.to() is WithMixin
    assert WithMixin().to() is WithMixin
    assert Overriding().train() == 'of the class'
    assert Delegating().train == 'delegated train'
    assert 'train' in dir(WithMixin())
    assert 'train' in dir(Overriding())
    with pytest.raises(AttributeError, match="'WithMixin' object has no attribute 'missing'"):
        WithMixin().state_dict  # noqa: B018

    link = chainer.Chain()
    link.train = 1
    with link.init_scope():
        link.parameters = L.Linear(1, 1)
        link.to = chainer.Parameter(0, (1,))
    assert link.train == 1
    assert 'parameters' in dir(link)
    assert [name for name, _ in link.namedparams()] == ['/to', '/parameters/W', '/parameters/b']
    assert sorted(vars(pickle.loads(pickle.dumps(link)))) == sorted(vars(link))
    del link.train
    assert not hasattr(link, 'train')


def test_classes_have_hints_too():
    with pytest.raises(AttributeError, match="type object 'MLP' has no attribute 'parameters'; in"):
        type('MLP', (chainer.Chain,), {}).parameters  # noqa: B018
    assert inspect.getattr_static(chainer.Link, 'params') is chainer.Link.params
    assert 'params' not in hints.find('Link')


class Call(chainer.Chain):
    def forward(self, function, *args, **kwargs):
        return function(*args, **kwargs)


@pytest.mark.parametrize(
    ('call', 'message'),
    [
        (lambda: F.relu(OWNERS['Variable'], dim=1), "argument 'dim'$"),  # a function without axes
        (lambda: OWNERS['Variable'].mean(dim=0), "argument 'dim'; in Chainer: axis=$"),
        (lambda: Call()(Call(), F.sum, OWNERS['Variable'], dim=1), 'dim.; in Chainer: axis=$'),
        (lambda: int([]), 'argument must be'),
    ],
)
def test_other_errors_in_a_link(call, message):
    with pytest.raises(TypeError, match=message):
        Call()(call)


# What users of PyTorch type most, from its documentation.
TYPED = {
    'chainer': """
        DataLoader Dataset TensorDataset random_split EarlyStopping ModelCheckpoint LBFGS
        summary set_seed manual_seed seed_everything ModuleList Module nn optim tensor
        Tensor as_tensor from_numpy zeros ones randn rand arange full eye linspace randint
        randperm empty zeros_like no_grad inference_mode enable_grad save load autograd jit
        vmap amp autocast GradScaler distributed hub float32 float16 float64 int64 long
        is_tensor numel clip_grad_norm_ clip_grad_value_ set_default_dtype
        set_default_device sum mean max cat stack matmul einsum relu exp log sqrt softmax
        sigmoid tanh where flatten reshape transpose squeeze unsqueeze clamp abs argmax
        Parameter Sequential functional init Trainer LightningModule Model layers losses
        callbacks
    """,
    'chainer.functions': """
        adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool2d
        affine_grid alpha_dropout avg_pool1d avg_pool2d avg_pool3d batch_norm bilinear
        binary_cross_entropy binary_cross_entropy_with_logits celu conv1d conv2d conv3d
        conv_transpose1d conv_transpose2d conv_transpose3d cosine_embedding_loss
        cosine_similarity cross_entropy ctc_loss dropout dropout2d elu embedding
        embedding_bag fold gaussian_nll_loss gelu glu grid_sample group_norm gumbel_softmax
        hardshrink hardsigmoid hardswish hardtanh hinge_embedding_loss huber_loss
        instance_norm interpolate kl_div l1_loss layer_norm leaky_relu linear
        local_response_norm log_softmax logsigmoid margin_ranking_loss max_pool1d max_pool2d
        max_pool3d max_unpool2d mish mse_loss multi_head_attention_forward multi_margin_loss
        nll_loss normalize one_hot pad pairwise_distance pixel_shuffle pixel_unshuffle
        poisson_nll_loss prelu relu relu6 rms_norm rrelu scaled_dot_product_attention selu
        sigmoid silu smooth_l1_loss soft_margin_loss softmax softmin softplus softshrink
        softsign tanh tanhshrink threshold triplet_margin_loss unfold upsample masked_fill
        tril triu multinomial gather scatter scatter_add index_select masked_select where
        einsum matmul bmm mm dot cat stack split chunk permute transpose reshape view
        flatten squeeze unsqueeze expand repeat topk sort argsort argmax max min mean sum
        prod std var norm cumsum cumprod clamp clip exp log log2 sqrt rsqrt abs pow add sub
        mul div neg sign erf sin cos round floor ceil logsumexp outer roll flip meshgrid
        bernoulli zeros_like ones_like isnan addmm baddbmm tensordot diag diagonal trace
        inverse det relu_
    """,
    'chainer.links': """
        Linear Bilinear Identity Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d
        ConvTranspose3d LazyLinear LazyConv2d Unfold Fold MaxPool1d MaxPool2d MaxPool3d
        MaxUnpool2d AvgPool1d AvgPool2d AvgPool3d AdaptiveAvgPool1d AdaptiveAvgPool2d
        AdaptiveMaxPool2d ReflectionPad2d ReplicationPad2d ZeroPad2d ConstantPad2d ELU
        Hardsigmoid Hardtanh Hardswish LeakyReLU LogSigmoid MultiheadAttention PReLU ReLU
        ReLU6 RReLU SELU CELU GELU Sigmoid SiLU Mish Softplus Softsign Tanh Threshold GLU
        Softmin Softmax Softmax2d LogSoftmax BatchNorm1d BatchNorm2d BatchNorm3d GroupNorm
        SyncBatchNorm InstanceNorm1d InstanceNorm2d LayerNorm LocalResponseNorm RMSNorm RNN
        LSTM GRU RNNCell LSTMCell GRUCell Transformer TransformerEncoder TransformerDecoder
        TransformerEncoderLayer TransformerDecoderLayer Dropout Dropout2d AlphaDropout
        Embedding EmbeddingBag CosineSimilarity PairwiseDistance L1Loss MSELoss
        CrossEntropyLoss CTCLoss NLLLoss GaussianNLLLoss KLDivLoss BCELoss BCEWithLogitsLoss
        HingeEmbeddingLoss HuberLoss SmoothL1Loss CosineEmbeddingLoss TripletMarginLoss
        MultiMarginLoss PixelShuffle PixelUnshuffle Upsample UpsamplingNearest2d
        UpsamplingBilinear2d DataParallel Module ModuleList ModuleDict Sequential Parameter
        ParameterList Flatten Unflatten ChannelShuffle functional init utils
    """,
    'chainer.optimizers': """
        Adadelta Adagrad Adamax ASGD LBFGS NAdam RAdam Rprop SparseAdam LARS Optimizer
        lr_scheduler StepLR ExponentialLR CosineAnnealingLR ReduceLROnPlateau OneCycleLR
    """,
    'Variable': """
        size view permute flatten squeeze unsqueeze expand expand_as repeat contiguous clone
        detach detach_ requires_grad requires_grad_ is_leaf grad_fn retain_grad item numpy
        tolist cpu cuda to float double half int long bool type type_as astype device dtype
        shape ndim dim numel nelement mean sum max min std var prod norm abs exp log sqrt
        pow sin cos tanh sigmoid relu softmax log_softmax argmax argmin topk sort matmul mm
        bmm dot t transpose reshape clamp clip clamp_ masked_fill masked_fill_ masked_select
        gather index_select zero_ zero_grad fill_ copy_ add add_ sub mul mul_ div round
        floor cumsum split chunk view_as register_hook backward data grad eq ne gt lt any
        all tril triu is_cuda cumprod flip unbind logsumexp narrow
    """,
    'Link': """
        parameters named_parameters modules named_modules add_module register_parameter
        register_buffer buffers train eval training zero_grad requires_grad_ state_dict
        load_state_dict to cuda cpu half double apply register_forward_hook
        register_full_backward_hook compile fit summary freeze
    """,
    'Optimizer': """
        step zero_grad param_groups state_dict load_state_dict add_param_group minimize
        apply_gradients learning_rate
    """,
}


@pytest.mark.filterwarnings('ignore::DeprecationWarning')
@pytest.mark.parametrize(
    'owner, name', [(owner, name) for owner, names in TYPED.items() for name in names.split()]
)
def test_names_that_users_type_exist_or_have_a_hint(owner, name):
    obj = OWNERS[owner] if owner in OWNERS else importlib.import_module(owner)
    try:
        getattr(obj, name)
    except AttributeError as error:
        assert '; in Chainer: ' in str(error)
