"""The calls of MPI that this package makes, over TCP: for hosts without an MPI library.

``python -m chainermn.run --transport tcp`` chooses it. The modules, from the bottom:

- ``rendezvous``: how ranks find each other, by the launcher, and connect.
- ``engine``: messages on the connections, which complete requests.
- ``collectives``: calls of all ranks, as messages.
- ``comm``: communicators with the methods of mpi4py's.
- ``names``: what takes the place of the module ``mpi4py.MPI``.
- ``starter``: starts the ranks of one host, in place of ``mpiexec``.
"""
