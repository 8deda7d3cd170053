import chainer
import chainer.distributions as D
import chainer.functions as F
import chainer.links as L


class AvgELBOLoss(chainer.Chain):
    """Negative evidence lower bound, estimated with ``k`` samples and averaged over a batch.

    Args:
        encoder (Encoder): Approximate posterior ``q(z|x)``.
        decoder (Decoder): Likelihood ``p(x|z)``.
        prior (Prior): Prior ``p(z)``.
        beta (float): Weight of the Kullback-Leibler divergence from the prior.
        k (int): Number of samples.

    """

    def __init__(self, encoder, decoder, prior, beta=1.0, k=1):
        super().__init__()
        self.beta = beta
        self.k = k
        with self.init_scope():
            self.encoder = encoder
            self.decoder = decoder
            self.prior = prior

    def forward(self, x):
        q_z = self.encoder(x)
        z = q_z.sample(self.k)  # (k, batch, dim_z)
        p_x = self.decoder(z)
        x = F.broadcast_to(x[None, :], (self.k,) + x.shape)

        reconstruction = F.mean(p_x.log_prob(x))
        penalty = F.mean(chainer.kl_divergence(q_z, self.prior()))
        loss = self.beta * penalty - reconstruction
        chainer.report({'loss': loss, 'reconstr': reconstruction, 'kl_penalty': penalty}, self)
        return loss


class Encoder(chainer.Chain):
    def __init__(self, n_in, n_latent, n_h):
        super().__init__()
        with self.init_scope():
            self.linear = L.Linear(n_in, n_h)
            self.mu = L.Linear(n_h, n_latent)
            self.ln_sigma = L.Linear(n_h, n_latent)

    def forward(self, x):
        h = F.tanh(self.linear(x))
        return D.Independent(
            D.Normal(loc=self.mu(h), log_scale=self.ln_sigma(h)), reinterpreted_batch_ndims=1
        )


class Decoder(chainer.Chain):
    """Independent pixels, each black or white (``binary``) or with a normal distribution."""

    def __init__(self, n_in, n_latent, n_h, binary=False):
        super().__init__()
        self.binary = binary
        with self.init_scope():
            self.linear = L.Linear(n_latent, n_h)
            self.output = L.Linear(n_h, n_in)

    def forward(self, z):
        batch_axes = z.ndim - 1
        h = F.tanh(self.linear(z, n_batch_axes=batch_axes))
        h = self.output(h, n_batch_axes=batch_axes)
        if self.binary:
            return D.Independent(D.Bernoulli(logit=h), reinterpreted_batch_ndims=1)
        return D.Independent(
            D.Normal(loc=h, scale=self.xp.ones(h.shape, h.dtype)), reinterpreted_batch_ndims=1
        )

    def mean_image(self, z):
        """Returns the means of the pixels as an array."""
        distribution = self(z).distribution
        return (distribution.p if self.binary else distribution.loc).array


class Prior(chainer.Link):
    """Standard normal distribution, on the device of the link."""

    def __init__(self, n_latent):
        super().__init__()
        self.n_latent = n_latent

    def forward(self):
        zeros = self.xp.zeros(self.n_latent, 'f')
        return D.Independent(
            D.Normal(loc=zeros, scale=self.xp.ones(self.n_latent, 'f')), reinterpreted_batch_ndims=1
        )
