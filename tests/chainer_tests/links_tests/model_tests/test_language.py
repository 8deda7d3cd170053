"""BERT and GPT-2 beside their formulas in NumPy, which take weights by Hugging Face's names."""

import dataclasses
import json
import math
import sys

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import serializers

BERT = L.BERTConfig(
    vocab_size=19, hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=12,
    max_position_embeddings=9, layer_norm_eps=1e-5,
)  # fmt: skip
GPT2 = L.GPT2Config(vocab_size=19, n_positions=9, n_embd=8, n_layer=2, n_head=4)
TOKENS = np.random.RandomState(0).randint(19, size=(3, 7)).astype('i')
MASK = np.arange(7) < np.array([[7], [4], [1]])
SEGMENTS = (np.arange(7) > 3).astype('i') * np.ones((3, 1), 'i')


def randomize(model):
    """Gives all parameters values that have an effect."""
    rng = np.random.RandomState(1)
    for _, param in sorted(model.namedparams()):
        param.array[...] = rng.normal(0, 0.5, param.shape) + (param.name == 'gamma')
    return model


@pytest.fixture
def bert():
    return randomize(L.BERT(BERT))


@pytest.fixture
def gpt2():
    return randomize(L.GPT2(GPT2))


@pytest.fixture(autouse=True)
def no_dropout():
    with chainer.using_config('train', False):
        yield


class Weights(dict):
    """Layers in double precision, by their names elsewhere."""

    def linear(self, name, x):
        return x @ self[name + '.weight'].T + self[name + '.bias']

    def transposed(self, name, x):
        return x @ self[name + '.weight'] + self[name + '.bias']

    def norm(self, name, x):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5)
        return x * self[name + '.weight'] + self[name + '.bias']


def weights_of(folder):
    with serializers.open_safetensors(folder / 'model.safetensors') as tensors:
        assert tensors.metadata == {'format': 'pt'}
        return Weights({name: array.astype('d') for name, array in tensors.items()})


def attend(q, k, v, n_heads, allowed):
    y = np.empty_like(q)
    size = q.shape[2] // n_heads
    for sample in range(len(q)):
        for head in range(n_heads):
            part = slice(head * size, (head + 1) * size)
            scores = q[sample, :, part] @ k[sample, :, part].T / math.sqrt(size)
            weights = np.exp(scores) * allowed[sample]
            y[sample, :, part] = weights / weights.sum(1, keepdims=True) @ v[sample, :, part]
    return y


def gelu(x):
    return x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2


def gelu_new(x):
    return x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2


def compute_bert(w, tokens, mask, segments):
    names = 'word_embeddings', 'position_embeddings', 'token_type_embeddings'
    words, positions, types = (w[f'embeddings.{name}.weight'] for name in names)
    h = w.norm('embeddings.LayerNorm', words[tokens] + positions[:7] + types[segments])
    for i in range(2):
        layer = f'encoder.layer.{i}'
        parts = (w.linear(f'{layer}.attention.self.{x}', h) for x in ('query', 'key', 'value'))
        a = attend(*parts, 2, np.repeat(mask[:, None], 7, 1))
        a = w.linear(f'{layer}.attention.output.dense', a)
        h = w.norm(f'{layer}.attention.output.LayerNorm', h + a)
        m = w.linear(f'{layer}.output.dense', gelu(w.linear(f'{layer}.intermediate.dense', h)))
        h = w.norm(f'{layer}.output.LayerNorm', h + m)
    return h, np.tanh(w.linear('pooler.dense', h[:, 0]))


def compute_gpt2(w, tokens):
    h = w['transformer.wte.weight'][tokens] + w['transformer.wpe.weight'][:7]
    for i in range(2):
        layer = f'transformer.h.{i}'
        qkv = w.transposed(f'{layer}.attn.c_attn', w.norm(f'{layer}.ln_1', h))
        a = attend(*np.split(qkv, 3, axis=2), 4, np.tri(7)[None].repeat(3, 0))
        h = h + w.transposed(f'{layer}.attn.c_proj', a)
        m = gelu_new(w.transposed(f'{layer}.mlp.c_fc', w.norm(f'{layer}.ln_2', h)))
        h = h + w.transposed(f'{layer}.mlp.c_proj', m)
    return w.norm('transformer.ln_f', h) @ w['transformer.wte.weight'].T


def assert_close(actual, expected, tolerance=2e-5):
    assert actual.dtype == np.float32
    np.testing.assert_allclose(actual.array, expected, tolerance, tolerance)


def test_bert(bert, tmp_path):
    bert.save_pretrained(tmp_path)
    h, pooled = bert(TOKENS, MASK.astype(int), SEGMENTS)
    expected, expected_pooled = compute_bert(weights_of(tmp_path), TOKENS, MASK, SEGMENTS)
    assert_close(h, expected)
    assert_close(pooled, expected_pooled)


def test_defaults_of_bert(bert):
    every, zero = np.ones_like(MASK), np.zeros_like(SEGMENTS)
    for actual, expected in zip(bert(TOKENS), bert(TOKENS, every, zero)):
        np.testing.assert_allclose(actual.array, expected.array, rtol=1e-6, atol=1e-6)


def test_gpt2(gpt2, tmp_path):
    gpt2.save_pretrained(tmp_path)
    y = gpt2(TOKENS)
    assert y.shape == (3, 7, 19)
    assert_close(y, compute_gpt2(weights_of(tmp_path), TOKENS))
    assert gpt2.encode(TOKENS).shape == (3, 7, 8)


@pytest.mark.parametrize('name', ['bert', 'gpt2'])
def test_round_trip(name, request, tmp_path):
    model = request.getfixturevalue(name)
    model.config = dataclasses.replace(model.config, others={'pad_token_id': 7})
    model.save_pretrained(tmp_path / 'new' / 'folder')
    other = type(model).from_pretrained(tmp_path / 'new' / 'folder')
    assert other.config == model.config
    assert other.config.others['pad_token_id'] == 7
    for (path, param), (_, expected) in zip(other.namedparams(), model.namedparams()):
        np.testing.assert_array_equal(param.array, expected.array, path)
    assert len(serializers.npz.serialize(other)) == len(serializers.npz.serialize(model))
    config = json.loads((tmp_path / 'new/folder/config.json').read_text())
    assert config['model_type'] == name
    assert config['architectures'] == [{'bert': 'BertModel', 'gpt2': 'GPT2LMHeadModel'}[name]]


def rename(folder, function):
    path = folder / 'model.safetensors'
    with serializers.open_safetensors(path) as tensors:
        renamed = function(dict(tensors))
    serializers.save_safetensors(path, renamed)


def old_bert(tensors):
    """Names of the first releases, in a model with a task."""

    def old(name):
        name = name.replace('LayerNorm.weight', 'LayerNorm.gamma')
        return 'bert.' + name.replace('LayerNorm.bias', 'LayerNorm.beta')

    others = {'bert.embeddings.position_ids': np.arange(9), 'cls.predictions.bias': np.zeros(19)}
    return {old(name): array for name, array in tensors.items()} | others


def gpt2_without_a_task(tensors):
    masks = {f'h.{i}.attn.bias': np.ones((1, 1, 9, 9)) for i in range(2)}
    return {name.removeprefix('transformer.'): array for name, array in tensors.items()} | masks


def gpt2_with_the_last_layer(tensors):
    return tensors | {'lm_head.weight': tensors['transformer.wte.weight']}


def half(tensors):
    return {name: array.astype('f2') for name, array in tensors.items()}


@pytest.mark.parametrize(
    ('name', 'function', 'tolerance'),
    [
        ('bert', old_bert, 0),
        ('gpt2', gpt2_without_a_task, 0),
        ('gpt2', gpt2_with_the_last_layer, 0),
        ('gpt2', half, 0.1),
    ],
)
def test_other_files(name, function, tolerance, request, tmp_path):
    model = request.getfixturevalue(name)
    model.save_pretrained(tmp_path)
    rename(tmp_path, function)
    expected = F.concat([F.flatten(y) for y in model(TOKENS)], 0).array
    actual = F.concat([F.flatten(y) for y in type(model).from_pretrained(tmp_path)(TOKENS)], 0)
    assert actual.dtype == np.float32
    np.testing.assert_allclose(actual.array, expected, atol=tolerance * abs(expected).max())


def test_bert_without_a_pooler(bert, tmp_path):
    bert.save_pretrained(tmp_path)
    with pytest.raises(ValueError, match=r'unexpected: pooler\.dense\.'):
        L.BERT.from_pretrained(tmp_path, pooler=False)
    rename(tmp_path, lambda tensors: {n: a for n, a in tensors.items() if 'pooler' not in n})
    with pytest.raises(ValueError, match=r'missing: pooler\.dense\.weight, pooler\.dense\.bias$'):
        L.BERT.from_pretrained(tmp_path)
    h, pooled = L.BERT.from_pretrained(tmp_path, pooler=False)(TOKENS)
    np.testing.assert_array_equal(h.array, bert(TOKENS)[0].array)
    assert pooled is None


@pytest.mark.parametrize(
    ('changes', 'message'),
    [
        ({'model_type': 'gpt2'}, "config.json has a model of type 'gpt2', 'bert' is expected"),
        ({'is_decoder': True}, 'config.json has is_decoder=True, only False is supported'),
        ({'hidden_act': 'gelu_10'}, "must be one of gelu, .*, not 'gelu_10'"),
        ({'num_attention_heads': 3}, 'size must be a multiple of n_heads'),
        ({'vocab_size': 18}, r'word_embeddings.weight has the shape \(19, 8\), \(18, 8\) is'),
        ({'num_hidden_layers': 1}, r'unexpected: encoder\.layer\.1\.'),
    ],
)
def test_other_configurations(bert, tmp_path, changes, message):
    bert.save_pretrained(tmp_path)
    path = tmp_path / 'config.json'
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    with pytest.raises(ValueError, match=message):
        L.BERT.from_pretrained(tmp_path)


def test_sources(bert, tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match='none is no folder'):
        L.BERT.from_pretrained(tmp_path / 'none')
    monkeypatch.setitem(sys.modules, 'huggingface_hub', None)
    with pytest.raises(ImportError, match='me/model is no folder, .*huggingface_hub is needed'):
        L.BERT.from_pretrained('me/model')
    bert.save_pretrained(tmp_path)
    (tmp_path / 'config.json').unlink()
    with pytest.raises(FileNotFoundError, match='config.json'):
        L.BERT.from_pretrained(tmp_path)


def test_hub(bert, tmp_path, monkeypatch):
    bert.save_pretrained(tmp_path)
    hub = type('Hub', (), {'snapshot_download': staticmethod(lambda name, **kw: str(tmp_path))})
    monkeypatch.setitem(sys.modules, 'huggingface_hub', hub)
    assert L.BERT.from_pretrained('me/model').config == bert.config


@pytest.mark.parametrize('name', ['bert', 'gpt2'])
def test_initial_values_and_dropout(name, request):
    config = {'bert': BERT, 'gpt2': GPT2}[name]
    model = {'bert': L.BERT, 'gpt2': L.GPT2}[name](config)
    weights = np.concatenate([p.array.ravel() for p in model.params() if p.name == 'W'])
    assert 0.018 < weights.std() < 0.022
    assert all(not p.array.any() for p in model.params() if p.name in ('b', 'beta'))
    first = F.concat([F.flatten(y) for y in model(TOKENS)], 0)
    np.random.seed(0)
    with chainer.using_config('train', True):
        second = F.concat([F.flatten(y) for y in model(TOKENS)], 0)
    assert (first.array != second.array).mean() > 0.9
    assert np.isnan(second.array).sum() == 0


@pytest.mark.chainerx
def test_gpt2_learns_when_compiled(gpt2):
    device = chainer.get_device('native:0')
    gpt2.to_device(device)
    optimizer = chainer.optimizers.Adam(alpha=1e-2).setup(gpt2)

    @chainer.compile
    def step(tokens):
        tokens = device.send(tokens)
        y = gpt2(tokens[:, :-1])
        loss = F.softmax_cross_entropy(y.reshape(-1, 19), tokens[:, 1:].reshape(-1))
        gpt2.cleargrads()
        loss.backward()
        optimizer.update()
        return loss

    with chainer.using_config('train', True):  # with dropout
        losses = [float(step(TOKENS).array) for _ in range(40)]
    assert losses[-1] < losses[0] / 2
    assert step.replays > 30, step.report()


@pytest.mark.chainerx
def test_bert_makes_plans(bert):
    bert.to_device('native:0')
    args = bert.device.send((TOKENS, MASK, SEGMENTS))

    @chainer.compile
    def step(tokens, mask, segments):
        loss = F.sum(bert(tokens, mask, segments)[1] ** 2)
        bert.cleargrads()
        loss.backward()
        return loss

    expected = float(step.__wrapped__(*args).array)
    for _ in range(4):
        np.testing.assert_allclose(float(step(*args).array), expected, rtol=1e-6)
    assert step.replays > 1, step.report()


@pytest.mark.parametrize('dtype', ['float16', 'float64'])
def test_dtypes(dtype, gpt2):
    expected = gpt2(TOKENS).array
    with chainer.using_config('dtype', dtype):
        other = L.GPT2(GPT2)
    for param, source in zip(other.params(), gpt2.params()):
        param.array[...] = source.array
    y = other(TOKENS)
    assert y.dtype == dtype
    np.testing.assert_allclose(y.array, expected, atol=2e-5 if dtype == 'float64' else 0.3)


@pytest.mark.chainerx
@pytest.mark.parametrize('name', ['bert', 'gpt2'])
def test_chainerx(name, request, tmp_path):
    model = request.getfixturevalue(name)
    expected = model(TOKENS)[0].array
    model.to_device('native')
    model.save_pretrained(tmp_path)
    for each in model, type(model).from_pretrained(tmp_path):
        each.to_device('native')
        y = each(each.device.send(TOKENS))[0]
        np.testing.assert_allclose(chainer.backends.cuda.to_cpu(y.array), expected, atol=2e-5)


def transformers_models():
    transformers = pytest.importorskip('transformers')
    torch = pytest.importorskip('torch')
    torch.manual_seed(0)
    bert = transformers.BertConfig(**{k: v for k, v in vars(BERT).items() if k != 'others'})
    gpt2 = transformers.GPT2Config(**{k: v for k, v in vars(GPT2).items() if k != 'others'})
    return {
        'bert': transformers.BertModel(bert).eval(),
        'gpt2': transformers.GPT2LMHeadModel(gpt2).eval(),
    }


@pytest.mark.filterwarnings('ignore')
@pytest.mark.parametrize('name', ['bert', 'gpt2'])
def test_transformers(name, tmp_path):
    """Logits of Hugging Face's models, and the way back."""
    theirs = transformers_models()[name]
    import torch

    tokens = torch.tensor(TOKENS, dtype=torch.long)
    theirs.save_pretrained(tmp_path / 'theirs')
    ours = {'bert': L.BERT, 'gpt2': L.GPT2}[name].from_pretrained(tmp_path / 'theirs')
    with torch.no_grad():
        expected = theirs(tokens)[0].numpy()
    np.testing.assert_allclose(
        ours(TOKENS)[0 if name == 'bert' else ...].array, expected, atol=1e-5
    )
    ours.save_pretrained(tmp_path / 'ours')
    back, info = type(theirs).from_pretrained(tmp_path / 'ours', output_loading_info=True)
    assert not any(info.values())
    with torch.no_grad():
        np.testing.assert_array_equal(back.eval()(tokens)[0].numpy(), expected)


@pytest.mark.parametrize('make', [lambda: L.BERT(BERT), lambda: L.GPT2(GPT2)])
@pytest.mark.parametrize('shape', [(3,), (1, 1, 3), (2, 1000)])
def test_tokens_of_wrong_shape(make, shape):
    with pytest.raises(ValueError, match='tokens must have the shape .*a length of at most'):
        make()(np.zeros(shape, 'i'))
