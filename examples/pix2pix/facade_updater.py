import chainer
import chainer.functions as F


class FacadeUpdater(chainer.training.updaters.StandardUpdater):
    """Updates encoder, decoder and discriminator."""

    def __init__(self, *args, models, **kwargs):
        self.enc, self.dec, self.dis = models
        super().__init__(*args, **kwargs)

    def loss_gen(self, x_out, t_out, y_out, weight=100.0):
        """Returns a loss that is small for images near the real ones that pass for real."""
        loss_rec = F.mean_absolute_error(x_out, t_out)
        loss_adv = F.mean(F.softplus(-y_out))
        chainer.report({'loss_enc': loss_rec}, self.enc)
        chainer.report({'loss_dec': loss_adv}, self.dec)
        return weight * loss_rec + loss_adv

    def loss_dis(self, y_in, y_out):
        loss = F.mean(F.softplus(-y_in)) + F.mean(F.softplus(y_out))
        chainer.report({'loss': loss}, self.dis)
        return loss

    def update_core(self):
        x_in, t_out = self.converter(self.get_iterator('main').next(), self.device)
        x_out = self.dec(self.enc(x_in))

        self.enc.cleargrads()
        self.dec.cleargrads()
        self.loss_gen(x_out, t_out, self.dis(x_in, x_out)).backward()
        self.get_optimizer('enc').update()
        self.get_optimizer('dec').update()

        self.get_optimizer('dis').update(
            lambda: self.loss_dis(self.dis(x_in, t_out), self.dis(x_in, x_out.array))
        )
