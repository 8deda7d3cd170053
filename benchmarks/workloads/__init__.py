"""One file per family of workloads; each file lists its instances in ``WORKLOADS``."""

from workloads import add, cnn, lstm, mlp, resnet

WORKLOADS = {
    workload.name: workload
    for module in (add, mlp, cnn, lstm, resnet)
    for workload in module.WORKLOADS
}
