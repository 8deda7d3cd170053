"""Writes formulas as MathML, which browsers show by themselves: no script, no font, no network."""

import re
import xml.etree.ElementTree as ET

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.util import logging

logger = logging.getLogger(__name__)


def _mathml(translator, node, display):
    latex = node.astext().strip()
    if display and r'\\' in latex and r'\begin' not in latex:
        latex = rf'\begin{{align*}}{latex}\end{{align*}}'
    try:
        text = convert(latex, display='block' if display else 'inline')
        ET.fromstring(text)
    except Exception as error:  # It has many kinds of its own.
        logger.warning('cannot convert the formula %r: %r', latex, error, location=node)
        text = f'<code>{translator.encode(latex)}</code>'
    # Letters of one word, as in \mathrm{softmax}, are one identifier to a browser.
    return re.sub(
        r'(?:<mi mathvariant="normal">\w</mi>){2,}',
        lambda word: '<mi>{}</mi>'.format(re.sub('<.*?>', '', word.group())),
        text,
    )


def visit_inline(translator, node):
    translator.body.append(_mathml(translator, node, display=False))
    raise nodes.SkipNode


def visit_display(translator, node):
    translator.body.append(f'<div class="math">{_mathml(translator, node, display=True)}</div>')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer('mathml', (visit_inline, None), (visit_display, None))
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
