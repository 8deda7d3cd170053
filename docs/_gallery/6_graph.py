"""
Draw a computational graph
==========================

Chainer records operations while they run. This program draws the record: each function, the arrays
between the functions, and the parameters.
:func:`chainer.computational_graph.build_computational_graph` also writes it in Graphviz's language.
"""

import matplotlib.pyplot as plt
import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.computational_graph import build_computational_graph


class Residual(chainer.Chain):
    """A small network with two paths."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(4, 4)
            self.l2 = L.Linear(4, 4)

    def forward(self, x):
        return F.relu(x + self.l2(F.tanh(self.l1(x))))


model = Residual()
x = chainer.Variable(np.ones((3, 4), np.float32), name='x')
loss = F.mean_squared_error(model(x), np.zeros((3, 4), np.float32))
graph = build_computational_graph([loss])
print(len(graph.nodes), 'nodes,', len(graph.edges), 'edges')
print(graph.dump()[:200], '...')

# %%
# Layout
# ------
# The rank of a function is its distance from the inputs. A function is drawn at twice its rank, its
# result one below; an input one above the first function that takes it.

functions = {node for node in graph.nodes if isinstance(node, chainer.FunctionNode)}
level = {node: 2 * node.rank for node in functions}
results = {second for first, second in graph.edges if first in functions}
for first, second in graph.edges:
    if first in functions:
        level[second] = level[first] + 1
for first, second in graph.edges:
    if first not in results and first not in functions:
        level[first] = min(level.get(first, level[second]), level[second] - 1)

rows = {}
for node in graph.nodes:
    rows.setdefault(level[node], []).append(node)
place = {}
for y, nodes in sorted(rows.items()):
    # Inputs stand beside what is computed: below the nodes that they follow.
    parents = {n: [place[a][0] for a, b in graph.edges if b is n and a in place] for n in nodes}
    nodes.sort(key=lambda n: np.mean(parents[n]) if parents[n] else 9)
    for i, node in enumerate(nodes):
        place[node] = (i - (len(nodes) - 1) / 2) * 2.4, -y

# %%
fig, axis = plt.subplots(figsize=(7, 8))
for first, second in graph.edges:
    axis.annotate(
        '',
        place[second],
        place[first],
        arrowprops={'arrowstyle': '-|>', 'color': '0.6', 'shrinkA': 10, 'shrinkB': 10},
    )
for node, (x, y) in place.items():
    box = {'boxstyle': 'round' if node in functions else 'square'}
    box['fc'] = '#cfe0fc' if node in functions else '#eeeeee'
    name = getattr(node, 'name', None)
    text = f'{name}: {node.label}' if name and node not in functions else node.label
    axis.text(x, y, text, ha='center', va='center', fontsize=8, bbox={**box, 'ec': '0.6'})
axis.set(xlim=(-5, 5), ylim=(-max(level.values()) - 1, 1))
axis.axis('off')
fig.tight_layout()
