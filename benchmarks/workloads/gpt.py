"""A language model: embeddings, transformer layers that see what came before, linear."""

import numpy

from workloads.base import Training, normal

EPS = 1e-5
N_PER_LAYER = 16  # parameters


class GPT(Training):
    def __init__(self, name, layers, units, heads, vocabulary, steps, batch, measure_memory=False):
        super().__init__(
            name,
            f'{layers} transformer layers, {units} units, {heads} heads, vocabulary {vocabulary}, '
            f'{steps} steps, batch {batch}',
        )
        self.layers = layers
        self.units = units
        self.heads = heads
        self.vocabulary = vocabulary
        self.steps = steps
        self.batch = batch
        self.measure_memory = measure_memory

    def data(self):
        rng = numpy.random.default_rng(0)
        words = rng.integers(0, self.vocabulary, (self.batch, self.steps + 1)).astype('i')
        return words[:, :-1].copy(), words[:, 1:].ravel()

    def parameters(self):
        n, v = self.units, self.vocabulary
        rng = numpy.random.default_rng(1)
        norm = [numpy.ones(n, 'f'), numpy.zeros(n, 'f')]
        params = [normal(rng, (v, n), 1), normal(rng, (self.steps, n), 1)]
        for _ in range(self.layers):
            # The projections to queries, keys and values
            params += [*(normal(rng, (n, n), n) for _ in range(3)), *[numpy.zeros(n, 'f')] * 3]
            for n_in, n_out in (n, n), (n, 4 * n), (4 * n, n):
                params += [normal(rng, (n_out, n_in), n_in), numpy.zeros(n_out, 'f')]
            params += [*norm, *norm]
        return [*params, *norm, normal(rng, (v, n), n), numpy.zeros(v, 'f')]

    def chainer_model(self):
        import chainer
        import chainer.functions as F
        import chainer.links as L

        class Model(chainer.Chain):
            def __init__(self, sizes):
                super().__init__()
                with self.init_scope():
                    self.embed = L.EmbedID(sizes.vocabulary, sizes.units)
                    self.position = chainer.Parameter(0, (sizes.steps, sizes.units))
                    self.layers = chainer.ChainList(
                        *(
                            L.TransformerEncoderLayer(
                                sizes.units,
                                sizes.heads,
                                dropout=0,
                                activation=F.gelu,
                                norm_first=True,
                                eps=EPS,
                            )
                            for _ in range(sizes.layers)
                        )
                    )
                    self.norm = L.LayerNormalization(sizes.units, EPS)
                    self.fc = L.Linear(sizes.units, sizes.vocabulary)

            def forward(self, x):
                h = self.embed(x) + self.position
                for layer in self.layers:
                    h = layer(h, causal=True)
                return self.fc(self.norm(h).reshape(-1, h.shape[2]))

        m = Model(self)
        params = [m.embed.W, m.position]
        for layer in m.layers:
            a = layer.self_attention
            inputs = [a.query, a.key, a.value]
            params += [*(link.W for link in inputs), *(link.b for link in inputs)]
            for link in a.output, layer.linear1, layer.linear2:
                params += [link.W, link.b]
            for link in layer.norm1, layer.norm2:
                params += [link.gamma, link.beta]
        return m, [*params, m.norm.gamma, m.norm.beta, m.fc.W, m.fc.b]

    def torch_model(self):
        from torch import nn

        class Model(nn.Module):
            def __init__(self, sizes):
                super().__init__()
                self.embed = nn.Embedding(sizes.vocabulary, sizes.units)
                self.position = nn.Embedding(sizes.steps, sizes.units)
                self.layers = nn.ModuleList(
                    nn.TransformerEncoderLayer(
                        sizes.units,
                        sizes.heads,
                        4 * sizes.units,
                        dropout=0,
                        activation='gelu',
                        layer_norm_eps=EPS,
                        batch_first=True,
                        norm_first=True,
                    )
                    for _ in range(sizes.layers)
                )
                self.norm = nn.LayerNorm(sizes.units, EPS)
                self.fc = nn.Linear(sizes.units, sizes.vocabulary)
                self.mask = nn.Transformer.generate_square_subsequent_mask(sizes.steps)

            def forward(self, x):
                h = self.embed(x) + self.position.weight
                for layer in self.layers:
                    h = layer(h, src_mask=self.mask, is_causal=True)
                return self.fc(self.norm(h)).flatten(0, 1)

        model = Model(self)
        return model, list(model.parameters())

    def torch_parameters(self):
        params = self.parameters()
        for i in reversed(range(2, 2 + self.layers * N_PER_LAYER, N_PER_LAYER)):
            # PyTorch joins the projections.
            joined = params[i : i + 3], params[i + 3 : i + 6]
            params[i : i + 6] = [numpy.concatenate(arrays) for arrays in joined]
        return params

    def bare_forward(self, x, params):
        import chainerx

        def norm(h, gamma, beta):
            return chainerx.layer_norm(h, gamma, beta, EPS)

        def linear(h, w, b):
            return chainerx.linear(h, w, b, n_batch_axis=2)

        def split(h):
            return h.reshape(*h.shape[:2], self.heads, -1).transpose(0, 2, 1, 3)

        embed, position, *middle, gamma, beta, fc_w, fc_b = params
        x = embed.take(x, 0) + position
        for i in range(0, len(middle), N_PER_LAYER):
            wq, wk, wv, bq, bk, bv, wo, bo, w1, b1, w2, b2, g1, h1, g2, h2 = middle[
                i : i + N_PER_LAYER
            ]
            h = norm(x, g1, h1)
            q, k, v = split(linear(h, wq, bq)), split(linear(h, wk, bk)), split(linear(h, wv, bv))
            h = chainerx.scaled_dot_product_attention(q, k, v, causal=True)
            x = x + linear(h.transpose(0, 2, 1, 3).reshape(*x.shape), wo, bo)
            x = x + linear(chainerx.gelu(linear(norm(x, g2, h2), w1, b1)), w2, b2)
        return chainerx.linear(norm(x, gamma, beta).reshape(-1, self.units), fc_w, fc_b)


WORKLOADS = [
    GPT('gpt-tiny', 2, 16, 2, 50, 8, 1),
    GPT('gpt', 4, 256, 4, 1000, 128, 8, measure_memory=True),
]
