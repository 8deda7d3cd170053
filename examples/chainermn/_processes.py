"""Code shared by the examples for several processes: options, communicator and device."""

import chainer
import chainermn


def add_arguments(parser):
    """Adds options to a parser, in place of those of the same names for one process."""
    parser.conflict_handler = 'resolve'
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
