"""The sources of a library of ChainerX compile as one (CMake's unity builds)."""

import collections
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / 'chainerx_cc'
NATIVE = 'chainerx/backends/native'
#: Folders whose sources CMake may compile together
LIBRARIES = {
    'chainerx': ['chainerx/core', 'chainerx/autograd', 'chainerx/ops', 'chainerx/capture'],
    'native': [NATIVE, f'{NATIVE}/elementwise'],
    'chainerx_onnx': ['chainerx_onnx', 'chainerx_onnx/operators'],
    'python': ['chainerx/python'],
}
#: A type or constant at the beginning of a line
DECLARED = re.compile(
    r'^(?:(?:struct|class|enum(?: class)?) (\w+)(?=[ ;:{=])(?!;)'
    r'|(?:constexpr|const|static|thread_local) .*?\b(\w+)(?:\[\w*\])? ?[={;])',
    re.MULTILINE,
)


def local_names(text):
    """Names of types and constants in the unnamed namespaces of a source."""
    parts = re.findall(r'^namespace \{$(.*?)^\}  // namespace$', text, re.MULTILINE | re.DOTALL)
    return {a or b for part in parts for a, b in DECLARED.findall(part)}


def test_local_names():
    text = (
        'struct Public {};\n'
        'namespace {\n'
        'struct Late;\nstruct Plan {\n    constexpr int kInner = 1;\n};\n'
        'constexpr int64_t kGrain = 1;\nconst char* const kWords[] = {"a"};\n'
        '}  // namespace\n'
        'constexpr int kOut = 1;\n'
    )
    assert local_names(text) == {'Plan', 'kGrain', 'kWords'}


@pytest.mark.parametrize('library', LIBRARIES)
def test_sources_share_no_local_names(library):
    # A build without ccache fails otherwise.
    sources = collections.defaultdict(list)
    for folder in LIBRARIES[library]:
        for path in sorted((SOURCE / folder).glob('*.cc')):
            if not path.stem.endswith(('_test', '_isa')):
                for name in local_names(path.read_text()):
                    sources[name].append(path.name)
    assert len(sources) > 5
    assert {name: files for name, files in sources.items() if len(files) > 1} == {}
