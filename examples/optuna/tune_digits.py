#!/usr/bin/env python
"""Tunes the numbers of layers and units and the optimizer with Optuna."""

import argparse

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import training
from chainer.training import extensions


def make_model(trial):
    layers = []
    for i in range(trial.suggest_int('n_layers', 1, 3)):
        layers += [L.Linear(None, trial.suggest_int(f'n_units_l{i}', 4, 128, log=True)), F.relu]
    return L.Classifier(chainer.Sequential(*layers, L.Linear(None, 10)))


def make_optimizer(trial):
    if trial.suggest_categorical('optimizer', ['Adam', 'MomentumSGD']) == 'Adam':
        return chainer.optimizers.Adam(trial.suggest_float('adam_alpha', 1e-5, 1e-1, log=True))
    return chainer.optimizers.MomentumSGD(
        trial.suggest_float('momentum_sgd_lr', 1e-5, 1e-1, log=True)
    )


def main():
    parser = argparse.ArgumentParser(description='Chainer example: hyperparameter search')
    parser.add_argument('--trials', '-n', type=int, default=50, help='Number of models to train')
    parser.add_argument(
        '--batchsize', '-b', type=int, default=100, help='Number of images in each mini-batch'
    )
    parser.add_argument(
        '--epoch',
        '-e',
        type=int,
        default=10,
        help='Number of sweeps over the dataset in each trial',
    )
    parser.add_argument('--out', '-o', default='result', help='Directory to output the result')
    parser.add_argument(
        '--device',
        '-d',
        default='-1',
        help='Device: a GPU number (negative for CPU), or @numpy, @cupy:0, native:0',
    )
    args = parser.parse_args()
    try:
        import optuna
    except ImportError:
        parser.exit(1, 'This example needs Optuna: pip install optuna\n')

    device = chainer.get_device(args.device)
    device.use()
    train, test = chainer.datasets.get_digits()

    def objective(trial):
        """Trains a model and returns its error on the test images."""
        model = make_model(trial)
        model.to_device(device)
        optimizer = make_optimizer(trial)
        optimizer.setup(model)
        train_iter = chainer.iterators.SerialIterator(train, args.batchsize)
        test_iter = chainer.iterators.SerialIterator(
            test, args.batchsize, repeat=False, shuffle=False
        )
        updater = training.updaters.StandardUpdater(train_iter, optimizer, device=device)
        trainer = training.Trainer(updater, (args.epoch, 'epoch'), out=args.out)
        trainer.run()
        result = extensions.Evaluator(test_iter, model, device=device)()
        return 1 - float(result['main/accuracy'])

    study = optuna.create_study()
    study.optimize(objective, n_trials=args.trials)
    print(f'Number of finished trials: {len(study.trials)}')
    print(f'Best error: {study.best_trial.value:.4f}')
    for name, value in study.best_trial.params.items():
        print(f'    {name}: {value}')


if __name__ == '__main__':
    main()
