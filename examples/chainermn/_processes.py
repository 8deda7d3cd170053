"""Code shared by the examples for several processes: options, communicator and device."""

import argparse

import chainer
import chainermn


def parse_args(parser):
    """Parses the command line with more options, in place of those of the same names."""
    parser = argparse.ArgumentParser(
        description=parser.description, parents=[parser], conflict_handler='resolve'
    )
    parser.add_argument(
        '--communicator', default='pure_nccl', help='Communicator, see create_communicator'
    )
    parser.add_argument(
        '--device',
        '-d',
        default='@numpy',
        help='Device: @numpy, native:0, or @cupy, of which each process of a host takes its own',
    )
    parser.add_argument(
        '--gpu', '-g', dest='device', action='store_const', const='@cupy', help='--device @cupy'
    )
    return parser.parse_args()


def start(args, **options):
    """Returns the communicator, which gets the options, and the device of this process."""
    comm = chainermn.create_communicator(args.communicator, **options)
    name = f'{args.device}:{comm.intra_rank}' if args.device == '@cupy' else args.device
    device = chainer.get_device(name)
    device.use()
    if comm.rank == 0:
        print(f'Processes: {comm.size}')
        print(f'Device: {device}')
    return comm, device
