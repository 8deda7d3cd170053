"""The directive ``cpp-overview`` lists the declarations of ``chainerx/chainerx.h`` by topic.

It reads declarations and their comments from the headers. It relies on their style: public
functions and classes have capitalized names and start in the first column, with comments above.
"""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2] / 'chainerx_cc'
UMBRELLA = ROOT / 'chainerx' / 'chainerx.h'

# Topics that group several headers. Each other header is a topic, named after its file.
TOPICS = {
    'Arrays': ['core/array.h', 'core/shape.h', 'core/dtype.h', 'core/scalar.h'],
    'Contexts, devices and backends': [
        'core/context.h',
        'core/backend.h',
        'core/device.h',
        'core/storage.h',
        'core/kernels.h',
    ],
    'Errors': ['core/error.h'],
    'Graphs': [
        'autograd/backward.h',
        'core/backprop_mode.h',
        'core/backprop_id.h',
        'ops/structured.h',
        'autograd/graph.h',
        'testing/gradient_check.h',
    ],
}
# Name, signature and summary of an elementwise operation.
DECLARED = re.compile(r'CHAINERX_OP\("(\w+)",\s*"([^"]*)",\s*R?"\(?(.*?)(?:\n\n|"\))', re.DOTALL)
NOT_PUBLIC = re.compile(r'CHAINERX_|operator|~|Throw')


def included():
    """Returns the headers that ``chainerx.h`` includes."""
    return re.findall(r'#include "chainerx/(.*)"', UMBRELLA.read_text())


def topics():
    """Returns pairs of a title and its headers."""
    named = {header for headers in TOPICS.values() for header in headers}
    result = list(TOPICS.items())
    for header in included():
        if header not in named:
            result.append((Path(header).stem.capitalize(), [header]))
    return result


def _public_parts(text):
    """Yields the lines of a header by namespace, as (namespace, lines)."""
    namespace, lines = '', []
    for line in text.splitlines():
        opened = re.match(r'namespace ([\w:]+) {', line)
        if opened or line.startswith('}  // namespace'):
            yield namespace, lines
            lines = []
            namespace = opened.group(1) if opened else 'chainerx'
        else:
            lines.append(line)
    yield namespace, lines


def declarations(header):
    """Yields (declaration, description) for the public names of a header, in order."""
    text = (ROOT / 'chainerx' / header).read_text().replace('\\\\', '\\')
    listed = _summaries()
    for name in re.findall(r'CHAINERX_DEFINE_ERROR\((\w+)\);', text):
        yield name, ''
    for namespace, lines in _public_parts(text):
        if namespace == 'chainerx::ops':
            for name, signature, doc in DECLARED.findall('\n'.join(lines)):
                if not name.startswith('_'):
                    yield f'{_cpp_name(lines, name)}({signature})', doc.replace('\n', ' ')
        elif namespace == 'chainerx':
            yield from _functions_and_classes(lines, listed)


def _summaries():
    """Returns the first paragraphs of the Python documentation, by C++ function name."""
    text = ''.join(path.read_text() for path in (ROOT / 'chainerx/python/docs').glob('*.h'))
    return {
        name: doc.replace('\n', ' ')
        for name, doc in re.findall(r' k(\w+) = R"\(\n(.*?)\n\n', text, re.DOTALL)
    }


def _cpp_name(lines, name):
    text = '\n'.join(lines)
    return re.search(rf'struct (\w+) [^{{]*{{\s*CHAINERX_OP\("{name}"', text).group(1)


def _functions_and_classes(lines, listed):
    comment, statement = [], ''
    for line in lines:
        if not statement and line.startswith('//'):
            comment.append(line[2:].strip())
        elif not statement and not re.match(r'[A-Za-z\[].*[^:]$', line):
            if not line.startswith(' '):
                comment = []
        else:
            statement += ' ' + line.strip().replace('= {}', '= default')
            if not re.search(r'[;{}]', statement):
                continue
            declared = re.split(r'[;{]', statement)[0].strip().replace('= default', '= {}')
            statement = ''
            class_ = re.match(r'(?:template <.*?> )?(?:class|struct) (\w+)', declared)
            function = re.match(
                r'(?:\[\[noreturn\]\] )?(?:template <.*?> )?(?:inline )?'
                r'([\w:<>&*, ]+ [&*]?([A-Z]\w*)\(.*\))',
                declared,
            )
            if NOT_PUBLIC.search(declared) or line.strip().endswith(';') and class_:
                pass
            elif class_:
                yield class_.group(1), _plain(comment)
            elif function:
                doc = _plain(comment) or listed.get(function.group(2), '')
                yield function.group(1), doc
            comment = []


def _plain(comment):
    """Escapes markup in a comment, except for code in backquotes."""
    return re.sub(r'([*|\\])', r'\\\1', ' '.join(comment))


def setup(app):
    # Imported here because tests use this module without Sphinx.
    from docutils.parsers.rst import Directive
    from docutils.statemachine import StringList

    class CppOverview(Directive):
        def run(self):
            lines = []
            for title, headers in topics():
                lines += [f'.. rubric:: {title}', '']
                for header in headers:
                    path = ROOT / 'chainerx' / header
                    self.state.document.settings.record_dependencies.add(str(path))
                    for declared, description in declarations(header):
                        description = f': {description}' if description else ''
                        lines.append(f'- ``{declared}``{description}')
                lines.append('')
            node = self.state.parent.__class__()
            text = StringList(lines, source=str(UMBRELLA))
            self.state.nested_parse(text, self.content_offset, node)
            return node.children

    app.add_directive('cpp-overview', CppOverview)
    return {'parallel_read_safe': True}
