import chainer
import chainer.functions as F


class DCGANUpdater(chainer.training.updaters.StandardUpdater):
    """Updates the generator and the discriminator against each other."""

    def __init__(self, *args, models, **kwargs):
        self.gen, self.dis = models
        super().__init__(*args, **kwargs)

    def loss_dis(self, y_fake, y_real):
        """Returns a loss that is small if the discriminator recognizes fakes."""
        loss = F.mean(F.softplus(-y_real)) + F.mean(F.softplus(y_fake))
        chainer.report({'loss': loss}, self.dis)
        return loss

    def loss_gen(self, y_fake):
        """Returns a loss that is small if the discriminator takes fakes for real."""
        loss = F.mean(F.softplus(-y_fake))
        chainer.report({'loss': loss}, self.gen)
        return loss

    def update_core(self):
        x_real = chainer.Variable(self.converter(self.get_iterator('main').next(), self.device))
        z = self.device.send(self.gen.make_hidden(len(x_real)))
        x_fake = self.gen(z)

        y_real = self.dis(x_real)
        y_fake = self.dis(x_fake.array)
        self.get_optimizer('dis').update(self.loss_dis, y_fake, y_real)
        self.get_optimizer('gen').update(lambda: self.loss_gen(self.dis(x_fake)))
