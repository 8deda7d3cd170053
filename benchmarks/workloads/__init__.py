"""One file per family of workloads; each file lists its instances in ``WORKLOADS``."""

from workloads import add, cnn, gpt, lstm, mlp, resnet

WORKLOADS = {
    workload.name: workload
    for module in (add, mlp, cnn, lstm, gpt, resnet)
    for workload in module.WORKLOADS
}
