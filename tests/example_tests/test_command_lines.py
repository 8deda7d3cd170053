"""The examples have the options of Chainer 7's."""

import re

import pytest

COMMON = '--batchsize -b --epoch -e --device -d --gpu -g '
OPTIONS = {
    'mnist/train_mnist.py': (
        COMMON + '--frequency -f --out -o --resume -r --autoload --unit -u --noplot'
    ),
    'mnist/train_mnist_custom_loop.py': COMMON + '--out -o --resume -r --unit -u',
    'mnist/train_mnist_data_parallel.py': (
        '--batchsize -b --epoch -e --out -o --resume -r --unit -u --devices -d --gpu0 -g --gpu1 -G'
    ),
    'mnist/train_mnist_data_parallel_updater.py': (
        '--batchsize -b --epoch -e --out -o --resume -r --unit -u --devices -d'
    ),
    'mnist/train_mnist_model_parallel.py': (
        '--batchsize -b --epoch -e --out -o --resume -r --unit -u --devices -d --gpu0 -g --gpu1 -G'
    ),
    'mnist/inference.py': '--device -d --gpu -g --snapshot -s --unit -u',
    'cifar/train_cifar.py': (
        COMMON + '--dataset --model --learnrate -l --out -o --resume -r --early-stopping --test'
    ),
    'cifar/train_cifar_custom_loop.py': (
        COMMON + '--dataset --learnrate -l --out -o --test --resume -r'
    ),
    'ptb/train_ptb.py': (
        COMMON + '--bproplen -l --gradclip -c --out -o --resume -r --test --unit -u --model -m'
    ),
    'ptb/train_ptb_custom_loop.py': (
        COMMON + '--bproplen -l --gradclip -c --out -o --resume -r --test --unit -u'
    ),
    'ptb/gentxt.py': (
        '--model -m --primetext -p --seed -s --unit -u --sample --length --device -d --gpu -g'
    ),
    'word2vec/train_word2vec.py': (
        COMMON + '--unit -u --window -w --model -m --negative-size --out-type -t --out -o --resume '
        '-r --snapshot-interval --test'
    ),
    'seq2seq/seq2seq.py': (
        COMMON + '--validation-source --validation-target --resume -r --save -s --unit -u --layer '
        '-l --use-dataset-api --min-source-sentence --max-source-sentence '
        '--min-target-sentence --max-target-sentence --log-interval --validation-interval '
        '--snapshot-interval --out -o'
    ),
    'vae/train_vae.py': (
        '--initmodel -m --resume -r --device -d --gpu -g --out -o --epoch -e --dim-z -z '
        '--dim-h --beta --k -k --binary --batch-size -b --test'
    ),
    'dcgan/train_dcgan.py': (
        COMMON + '--dataset -i --out -o --resume -r --n_hidden -n --seed --snapshot_interval '
        '--display_interval'
    ),
    'text_classification/train_text_classifier.py': (
        COMMON + '--out -o --unit -u --layer -l --dropout --dataset -data --model -model '
        '--char-based --test --resume -r'
    ),
    'text_classification/run_text_classifier.py': '--device -d --gpu -g --model-setup',
    'sentiment/train_sentiment.py': COMMON + '--unit -u --label -l --epocheval -p --test',
    'sentiment/train_recursive_minibatch.py': COMMON + '--unit -u --label -l --epocheval -p --test',
    'pos/train_pos.py': COMMON + '--out -o --resume -r',
    'memnn/train_memnn.py': COMMON + '--model -m --unit -u --hop -H --max-memory --sentence-repr',
    'memnn/test_memnn.py': '--device -d --gpu -g',
    'imagenet/train_imagenet.py': (
        '--arch -a --batchsize -B --dtype --epoch -E --device -d --initmodel --loaderjob '
        '-j --mean -m --resume -r --out -o --root -R --val_batchsize -V --test --gpu -g '
        '--learnrate'
    ),
    'imagenet/train_imagenet_data_parallel.py': (
        '--arch -a --batchsize -B --epoch -E --devices -d --initmodel --loaderjob -j '
        '--mean -m --resume -r --out -o --root -R --val_batchsize -V --test --gpus -g'
    ),
    'imagenet/compute_mean.py': '--root -R --output -o',
    'pix2pix/train_facade.py': (
        COMMON + '--dataset -i --out -o --resume -r --seed --snapshot_interval --display_interval'
    ),
    'wavenet/train.py': (
        COMMON + '--length -l --dataset -i --out -o --resume -r --n_loop --n_layer --a_channels '
        '--r_channels --s_channels --use_embed_tanh --seed --snapshot_interval '
        '--display_interval --process --prefetch'
    ),
    'wavenet/generate.py': (
        '--input -i --output -o --model -m --n_loop --n_layer --a_channels --r_channels '
        '--s_channels --use_embed_tanh --device -d --gpu -g'
    ),
    'reinforcement_learning/dqn_cartpole.py': (
        '--env --batch-size -b --episodes -e --device -d --gpu -g --out -o --unit -u '
        '--reward-scale --replay-start-size --iterations-to-decay-epsilon --min-epsilon '
        '--target-update-freq --no-record --double-dqn'
    ),
    'reinforcement_learning/ddpg_pendulum.py': (
        '--env --batch-size -b --episodes -e --device -d --gpu -g --out -o --unit -u '
        '--reward-scale --replay-start-size --tau --noise-scale --no-record'
    ),
    'image_captioning/train.py': (
        '--out --mscoco-root --max-iters --batch-size --dropout-ratio --val-keep-quantity '
        '--val-iter --log-iter --snapshot-iter --rnn --max-caption-length --device -d '
        '--gpu -g'
    ),
    'image_captioning/predict.py': '--img --model --max-caption-length --device -d --gpu -g',
    'static_graph_optimizations/mnist/train_mnist.py': (
        COMMON + '--frequency -f --out -o --resume -r --unit -u --noplot'
    ),
    'static_graph_optimizations/cifar/train_cifar.py': (
        COMMON + '--dataset --learnrate -l --out -o --resume -r'
    ),
    'static_graph_optimizations/ptb/train_ptb_custom_loop.py': (
        COMMON + '--bproplen -l --gradclip -c --out -o --resume -r --test --unit -u'
    ),
    'modelzoo/evaluate_caffe_net.py': '--basepath -b --mean -m --batchsize -B --device -d --gpu -g',
    'chainermn/mnist/train_mnist.py': COMMON + '--communicator --out -o --unit -u',
    'chainermn/mnist/train_mnist_model_parallel.py': COMMON + '--out -o --unit -u',
    'chainermn/imagenet/train_imagenet.py': (
        COMMON + '--arch -a -B -E --initmodel --loaderjob -j --mean -m --resume -r --out -o '
        '--root -R --val_batchsize --test --communicator'
    ),
    'chainermn/seq2seq/seq2seq.py': (
        COMMON + '--communicator --resume -r --save -s --unit -u --layer -l --out -o'
    ),
    'chainermn/dcgan/train_dcgan.py': (
        COMMON + '--communicator --dataset -i --out -o --resume -r --n_hidden -n --seed '
        '--snapshot_interval --display_interval'
    ),
    'chainermn/parallel_convolution/train_cifar.py': (
        COMMON + '--communicator --dataset --learnrate -l --out -o'
    ),
    'caffe_export/export.py': '--arch -a --out-dir -o --gpu -g',
}


@pytest.mark.parametrize('script', OPTIONS)
def test_options(run_example, capsys, script):
    with pytest.raises(SystemExit) as error:
        run_example(script, '--help')
    assert error.value.code == 0
    there = re.findall(r'(?<![\w-])--?[A-Za-z][\w-]*', capsys.readouterr().out)
    assert set(OPTIONS[script].split()) <= set(there)
