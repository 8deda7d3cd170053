"""The directive ``cpp-overview``: what ``chainerx/chainerx.h`` declares, by topic.

Declarations and their comments are read from the headers, which are written alike: names of public
functions and classes begin with a capital letter in the first column, comments stand above them.
"""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2] / 'chainerx_cc'
UMBRELLA = ROOT / 'chainerx' / 'chainerx.h'

# Topics of headers that do not have one each. The files of operations are named after theirs.
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
# C++ name and summary of another operation.
ROUTINE = re.compile(r'CHAINERX_(?:METHOD_)?ROUTINE\(\s*(\w+),[^(]*?R"\(\n(.*?)\n\n', re.DOTALL)
NOT_PUBLIC = re.compile(r'CHAINERX_|operator|~|Throw')


def included():
    """Returns the headers that the umbrella header includes."""
    return re.findall(r'#include "chainerx/(.*)"', UMBRELLA.read_text())


def topics():
    """Returns pairs of a title and headers."""
    named = {header for headers in TOPICS.values() for header in headers}
    result = list(TOPICS.items())
    for header in included():
        if header not in named:
            result.append((Path(header).stem.capitalize(), [header]))
    return result


def _public_parts(text):
    """Yields (namespace, lines) outside of internal namespaces."""
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
    """Yields (declaration, description) of the public names of a header, in its order."""
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
    """Returns the first paragraphs of the documentation of functions, by their C++ names."""
    text = ''.join(path.read_text() for path in sorted((ROOT / 'chainerx/ops').glob('*.cc')))
    return {name: ' '.join(doc.split()) for name, doc in ROUTINE.findall(text)}


def _cpp_name(lines, name):
    text = '\n'.join(lines)
    return re.search(rf'struct (\w+) [^{{]*{{\s*CHAINERX_OP\("{name}"', text).group(1)


def _functions_and_classes(lines, listed):
    comment, statement = [], ''
    for line in lines:
        if not statement and line.startswith('CHAINERX_'):
            comment = []
        elif not statement and line.startswith('//'):
            comment.append(line[2:].strip())
        elif not statement and not re.match(r'[A-Za-z\[].*[^:]$', line):
            if not line.startswith(' '):
                comment = []
        else:
            # Braces in defaults are not those of a body.
            line = re.sub(r'(\w)\{(\w*)\}', r'\1(\2)', line)
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
    """Comments are not written as markup, apart from code in backquotes."""
    return re.sub(r'([*|\\])', r'\\\1', ' '.join(comment))


def setup(app):
    # Imported here, since the tests of the rest run without Sphinx.
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
