"""Recurrent links, losses and classifiers, as Chainer 7 has them.

Every row holds what Chainer 7.8.1 does: names in files, attributes, and digests of seeded values.
"""

import numpy as np
from helpers.link_row import Row, r

from chainer import Variable as V, initializers as I, links as L

LINKS = [
    Row(
        lambda: L.GRU(2, 3),
        (r(0, 2, 2),),
        'U/W[3,3] U/b[3] U_r/W[3,3] U_r/b[3] U_z/W[3,3] U_z/b[3] W/W[3,2] W/b[3] W_r/W[3,2] '
        'W_r/b[3] W_z/W[3,2] W_z/b[3]',
        'U U_r U_z W W_r W_z h=None state_size=3',
        init=4.006611,
        out=-0.037583,
    ),
    Row(
        lambda: L.StatefulGRU(2, 3, init=I.Normal(0.3), inner_init=I.Orthogonal(), bias_init=0.1),
        (r(0, 2, 2),),
        'U/W[3,3] U/b[3] U_r/W[3,3] U_r/b[3] U_z/W[3,3] U_z/b[3] W/W[3,2] W/b[3] W_r/W[3,2] '
        'W_r/b[3] W_z/W[3,2] W_z/b[3]',
        'U U_r U_z W W_r W_z h=None state_size=3',
        init=3.786693,
        out=-0.033587,
    ),
    Row(
        lambda: L.StatelessGRU(2, 3),
        (r(0, 2, 3), r(1, 2, 2)),
        'U/W[3,3] U/b[3] U_r/W[3,3] U_r/b[3] U_z/W[3,3] U_z/b[3] W/W[3,2] W/b[3] W_r/W[3,2] '
        'W_r/b[3] W_z/W[3,2] W_z/b[3]',
        'U U_r U_z W W_r W_z',
        init=4.006611,
        out=-0.130093,
    ),
    Row(
        lambda: L.StatelessGRU(None, 3),
        (r(0, 2, 3), r(1, 2, 2)),
        'U/W[3,3] U/b[3] U_r/W[3,3] U_r/b[3] U_z/W[3,3] U_z/b[3] W/W?[3,2] W/b[3] W_r/W?[3,2] '
        'W_r/b[3] W_z/W?[3,2] W_z/b[3]',
        'U U_r U_z W W_r W_z',
        init=-0.063421,
        out=0.166961,
    ),
    Row(
        lambda: L.LSTM(2, 3),
        (r(0, 2, 2),),
        'lateral/W[12,3] upward/W[12,2] upward/b[12]',
        'bias_init=0 c=None forget_bias_init=1 h=None lateral lateral_init=None state_size=3 '
        'upward upward_init=None',
        init=-1.934212,
        out=0.009539,
    ),
    Row(
        lambda: L.LSTM(None, 3),
        (r(0, 2, 2),),
        'lateral/W[12,3] upward/W?[12,2] upward/b[12]',
        'bias_init=0 c=None forget_bias_init=1 h=None lateral lateral_init=None state_size=3 '
        'upward upward_init=None',
        init=0.0,
        out=0.046806,
    ),
    Row(
        lambda: L.LSTM(
            2,
            3,
            lateral_init=I.Orthogonal(),
            upward_init=I.HeNormal(),
            bias_init=0.1,
            forget_bias_init=2,
        ),
        (r(0, 2, 2),),
        'lateral/W[12,3] upward/W[12,2] upward/b[12]',
        'bias_init=0.1 c=None forget_bias_init=2 h=None lateral lateral_init state_size=3 '
        'upward upward_init',
        init=-3.042114,
        out=-0.008073,
    ),
    Row(
        lambda: L.StatelessLSTM(2, 3),
        (r(0, 2, 3), r(1, 2, 3), r(2, 2, 2)),
        'lateral/W[12,3] upward/W[12,2] upward/b[12]',
        'bias_init=0 forget_bias_init=1 lateral lateral_init=None state_size=3 upward '
        'upward_init=None',
        init=-1.934212,
        out=-0.112429,
    ),
    Row(
        lambda: L.StatelessLSTM(None, 3),
        (None, None, r(2, 2, 2)),
        'lateral/W[12,3] upward/W?[12,2] upward/b[12]',
        'bias_init=0 forget_bias_init=1 lateral lateral_init=None state_size=3 upward '
        'upward_init=None',
        init=0.0,
        out=-0.349707,
    ),
    Row(
        lambda: L.StatefulMGU(2, 3),
        (r(0, 2, 2),),
        'W_f/W[3,5] W_f/b[3] W_h/W[3,5] W_h/b[3]',
        'W_f W_h h=None',
        init=0.768568,
        out=-0.033201,
    ),
    Row(
        lambda: L.StatelessMGU(2, 3),
        (r(0, 2, 3), r(1, 2, 2)),
        'W_f/W[3,5] W_f/b[3] W_h/W[3,5] W_h/b[3]',
        'W_f W_h',
        init=0.768568,
        out=0.163989,
    ),
    Row(
        lambda: L.StatefulPeepholeLSTM(2, 3),
        (r(0, 2, 2),),
        'lateral/W[12,3] peep_f/W[3,3] peep_i/W[3,3] peep_o/W[3,3] upward/W[12,2] upward/b[12]',
        'c=None h=None lateral peep_f peep_i peep_o state_size=3 upward',
        init=2.295844,
        out=0.033232,
    ),
    Row(
        lambda: L.StatefulZoneoutLSTM(2, 3),
        (r(0, 2, 2),),
        'lateral/W[12,3] upward/W[12,2] upward/b[12]',
        'c=None c_ratio=0.5 h=None h_ratio=0.5 lateral state_size=3 upward',
        init=2.249366,
        out=-0.067131,
    ),
    Row(
        lambda: L.ChildSumTreeLSTM(2, 3),
        (r(0, 2, 3), r(1, 2, 3), r(2, 2, 3), r(3, 2, 3), r(4, 2, 2)),
        'W_h_aio/W[9,3] W_h_f/W[3,3] W_x/W[12,2] W_x/b[12]',
        'W_h_aio W_h_f W_x in_size=2 state_size=3',
        init=0.902488,
        out=0.058644,
    ),
    Row(
        lambda: L.NaryTreeLSTM(2, 3, 2),
        (r(0, 2, 3), r(1, 2, 3), r(2, 2, 3), r(3, 2, 3), r(4, 2, 2)),
        'W_h1/W[15,3] W_h2/W[15,3] W_x/W[15,2] W_x/b[15]',
        'W_h1 W_h2 W_x in_size=2 n_ary=2 state_size=3',
        init=-5.99772,
        out=0.800067,
    ),
    Row(
        lambda: L.CRF1d(3),
        ([V(r(0, 2, 3)), V(r(1, 1, 3))], [np.array([0, 1], 'i'), np.array([2], 'i')]),
        'cost[3,3]',
        'cost',
        init=0.0,
        out=2.308675,
    ),
    Row(
        lambda: L.CRF1d(3, initial_cost=I.Normal(0.2)),
        ([V(r(0, 2, 3)), V(r(1, 1, 3))], [np.array([0, 1], 'i'), np.array([2], 'i')]),
        'cost[3,3]',
        'cost',
        init=-0.266057,
        out=2.315511,
    ),
    Row(
        lambda: L.BlackOut(3, [4, 2, 1, 3], 2),
        (r(0, 2, 3), np.array([0, 2], 'i')),
        'W[4,3]',
        'W sample_size=2 sampler',
    ),
    Row(
        lambda: L.NegativeSampling(3, [4, 2, 1, 3], 2),
        (r(0, 2, 3), np.array([0, 2], 'i')),
        'W[4,3]',
        'W sample_size=2 sampler',
        init=0.0,
        out=4.158883,
    ),
    Row(
        lambda: L.BinaryHierarchicalSoftmax(3, ((1, 2), (0, 3))),
        (r(0, 2, 3), np.array([0, 2], 'i')),
        'W[3,3]',
        'W',
        init=0.674276,
        out=2.731596,
    ),
    Row(
        lambda: L.Classifier(L.Linear(3, 4)),
        (r(0, 2, 3), np.array([0, 3], 'i')),
        'predictor/W[4,3] predictor/b[4]',
        'accfun accuracy=None label_key=-1 loss=None lossfun predictor y=None',
        init=-1.050097,
        out=1.28371,
    ),
    Row(
        lambda: L.NStepRNNTanh(2, 2, 3, 0.0),
        (None, [V(r(0, 3, 2)), V(r(1, 1, 2)), V(r(2, 2, 2))]),
        '0/b0[3] 0/b1[3] 0/w0[3,2] 0/w1[3,3] 1/b0[3] 1/b1[3] 1/w0[3,3] 1/w1[3,3]',
        'bs direction=1 dropout=0.0 n_layers=2 out_size=3 ws',
        init=1.571408,
        out=2.695788,
    ),
    Row(
        lambda: L.NStepBiRNNTanh(2, 2, 3, 0.5, initialW=I.Normal(0.3), initial_bias=I.Uniform(0.1)),
        (r(8, 4, 2, 3), [V(r(0, 3, 2)), V(r(1, 1, 2))]),
        '0/b0[3] 0/b1[3] 0/w0[3,2] 0/w1[3,3] 1/b0[3] 1/b1[3] 1/w0[3,2] 1/w1[3,3] 2/b0[3] '
        '2/b1[3] 2/w0[3,6] 2/w1[3,3] 3/b0[3] 3/b1[3] 3/w0[3,6] 3/w1[3,3]',
        'bs direction=2 dropout=0.5 n_layers=2 out_size=3 ws',
        init=-2.815186,
        out=0.069458,
    ),
    Row(
        lambda: L.NStepBiRNNReLU(2, 2, 3, 0.0),
        (None, [V(r(0, 3, 2)), V(r(1, 1, 2)), V(r(2, 2, 2))]),
        '0/b0[3] 0/b1[3] 0/w0[3,2] 0/w1[3,3] 1/b0[3] 1/b1[3] 1/w0[3,2] 1/w1[3,3] 2/b0[3] '
        '2/b1[3] 2/w0[3,6] 2/w1[3,3] 3/b0[3] 3/b1[3] 3/w0[3,6] 3/w1[3,3]',
        'bs direction=2 dropout=0.0 n_layers=2 out_size=3 ws',
        init=3.62618,
        out=-0.255033,
    ),
    Row(
        lambda: L.NStepGRU(2, 2, 3, 0.0),
        (None, [V(r(0, 3, 2)), V(r(1, 1, 2)), V(r(2, 2, 2))]),
        '0/b0[3] 0/b1[3] 0/b2[3] 0/b3[3] 0/b4[3] 0/b5[3] 0/w0[3,2] 0/w1[3,2] 0/w2[3,2] '
        '0/w3[3,3] 0/w4[3,3] 0/w5[3,3] 1/b0[3] 1/b1[3] 1/b2[3] 1/b3[3] 1/b4[3] 1/b5[3] '
        '1/w0[3,3] 1/w1[3,3] 1/w2[3,3] 1/w3[3,3] 1/w4[3,3] 1/w5[3,3]',
        'bs direction=1 dropout=0.0 n_layers=2 out_size=3 ws',
        init=-1.363725,
        out=0.096673,
    ),
    Row(
        lambda: L.NStepBiGRU(2, 2, 3, 0.5, initialW=I.Normal(0.3), initial_bias=I.Uniform(0.1)),
        (r(8, 4, 2, 3), [V(r(0, 3, 2)), V(r(1, 1, 2))]),
        '0/b0[3] 0/b1[3] 0/b2[3] 0/b3[3] 0/b4[3] 0/b5[3] 0/w0[3,2] 0/w1[3,2] 0/w2[3,2] '
        '0/w3[3,3] 0/w4[3,3] 0/w5[3,3] 1/b0[3] 1/b1[3] 1/b2[3] 1/b3[3] 1/b4[3] 1/b5[3] '
        '1/w0[3,2] 1/w1[3,2] 1/w2[3,2] 1/w3[3,3] 1/w4[3,3] 1/w5[3,3] 2/b0[3] 2/b1[3] 2/b2[3] '
        '2/b3[3] 2/b4[3] 2/b5[3] 2/w0[3,6] 2/w1[3,6] 2/w2[3,6] 2/w3[3,3] 2/w4[3,3] 2/w5[3,3] '
        '3/b0[3] 3/b1[3] 3/b2[3] 3/b3[3] 3/b4[3] 3/b5[3] 3/w0[3,6] 3/w1[3,6] 3/w2[3,6] '
        '3/w3[3,3] 3/w4[3,3] 3/w5[3,3]',
        'bs direction=2 dropout=0.5 n_layers=2 out_size=3 ws',
        init=1.453497,
        out=1.357467,
    ),
    Row(
        lambda: L.NStepLSTM(2, 2, 3, 0.0),
        (None, None, [V(r(0, 3, 2)), V(r(1, 1, 2)), V(r(2, 2, 2))]),
        '0/b0[3] 0/b1[3] 0/b2[3] 0/b3[3] 0/b4[3] 0/b5[3] 0/b6[3] 0/b7[3] 0/w0[3,2] 0/w1[3,2] '
        '0/w2[3,2] 0/w3[3,2] 0/w4[3,3] 0/w5[3,3] 0/w6[3,3] 0/w7[3,3] 1/b0[3] 1/b1[3] 1/b2[3] '
        '1/b3[3] 1/b4[3] 1/b5[3] 1/b6[3] 1/b7[3] 1/w0[3,3] 1/w1[3,3] 1/w2[3,3] 1/w3[3,3] '
        '1/w4[3,3] 1/w5[3,3] 1/w6[3,3] 1/w7[3,3]',
        'bs direction=1 dropout=0.0 n_layers=2 out_size=3 ws',
        init=-5.616365,
        out=0.12742,
    ),
    Row(
        lambda: L.NStepBiLSTM(2, 2, 3, 0.5, initialW=I.Normal(0.3), initial_bias=I.Uniform(0.1)),
        (r(8, 4, 2, 3), r(9, 4, 2, 3), [V(r(0, 3, 2)), V(r(1, 1, 2))]),
        '0/b0[3] 0/b1[3] 0/b2[3] 0/b3[3] 0/b4[3] 0/b5[3] 0/b6[3] 0/b7[3] 0/w0[3,2] 0/w1[3,2] '
        '0/w2[3,2] 0/w3[3,2] 0/w4[3,3] 0/w5[3,3] 0/w6[3,3] 0/w7[3,3] 1/b0[3] 1/b1[3] 1/b2[3] '
        '1/b3[3] 1/b4[3] 1/b5[3] 1/b6[3] 1/b7[3] 1/w0[3,2] 1/w1[3,2] 1/w2[3,2] 1/w3[3,2] '
        '1/w4[3,3] 1/w5[3,3] 1/w6[3,3] 1/w7[3,3] 2/b0[3] 2/b1[3] 2/b2[3] 2/b3[3] 2/b4[3] '
        '2/b5[3] 2/b6[3] 2/b7[3] 2/w0[3,6] 2/w1[3,6] 2/w2[3,6] 2/w3[3,6] 2/w4[3,3] 2/w5[3,3] '
        '2/w6[3,3] 2/w7[3,3] 3/b0[3] 3/b1[3] 3/b2[3] 3/b3[3] 3/b4[3] 3/b5[3] 3/b6[3] 3/b7[3] '
        '3/w0[3,6] 3/w1[3,6] 3/w2[3,6] 3/w3[3,6] 3/w4[3,3] 3/w5[3,3] 3/w6[3,3] 3/w7[3,3]',
        'bs direction=2 dropout=0.5 n_layers=2 out_size=3 ws',
        init=0.178455,
        out=-0.678029,
    ),
]
