"""Checks that CUDA kernels stay in registers: ``python tools/kernel_resources.py REPORT``.

``REPORT`` has what nvcc prints with ``--resource-usage``. A kernel with a frame, a stack or spilled
registers keeps values in local memory, which is a part of the GPU's main memory. This prints what
the kernels use, and fails if one has local memory and ``ALLOWED`` does not list it.
"""

import argparse
import dataclasses
import re
import subprocess
import sys
from pathlib import Path

#: Patterns of functions that may use local memory, and why.
ALLOWED = {
    r'Kernel<(Sin|Cos|Tan|Digamma),': 'reducing large angles takes a table (Payne and Hanek)',
    r'^(math::(ErfcInverse|ScaledErfc|Zeta)|__internal_accurate_pow)$': (
        'a function of float64 that kernels call, since it is long, saves their registers'
    ),
}

_START = re.compile(r"Compiling entry function '\S+' for '(\w+)'")
_FUNCTION = re.compile(r'Function properties for (\S+)')
_LOCAL = re.compile(r'(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads')
_REGISTERS = re.compile(r'Used (\d+) registers')
_STACK = re.compile(r'(\d+) bytes cumulative stack size')


@dataclasses.dataclass(slots=True)
class Use:
    """What a function uses on one architecture: registers, and bytes of local memory.

    A function that kernels call uses their registers.
    """

    function: str
    architecture: str
    local: int = 0
    registers: int = 0


def parse(text):
    """List of what each function in nvcc's output uses."""
    uses, architecture = [], ''
    for line in text.splitlines():
        if match := _START.search(line):
            architecture = match[1]
        elif match := _FUNCTION.search(line):
            uses.append(Use(match[1], architecture))
        elif match := _LOCAL.search(line):
            uses[-1].local = max(map(int, match.groups()))
        elif match := _REGISTERS.search(line):
            uses[-1].registers = int(match[1])
            # This counts the functions that the kernel calls, too.
            stack = _STACK.search(line)
            uses[-1].local = max(uses[-1].local, int(stack[1]) if stack else 0)
    return uses


def name_functions(uses):
    """Gives the functions the names that C++ has, without namespaces and parameters."""
    mangled = '\n'.join(use.function for use in uses)
    done = subprocess.run(['c++filt'], input=mangled, capture_output=True, text=True, check=True)
    for use, name in zip(uses, done.stdout.splitlines(), strict=True):
        name = re.sub(r'\(anonymous namespace\)::|\b(chainerx|cuda|ops|_GLOBAL__N_\w*)::', '', name)
        use.function = name.removeprefix('void ').partition('(')[0]


def table(uses):
    """Lines with the variants of each kernel, and the most that one of them uses."""
    kernels = {}
    for use in uses:
        kernels.setdefault(use.function.partition('<')[0], []).append(use)
    yield f'{"kernel":40} variants registers local bytes'
    for name, variants in sorted(kernels.items()):
        registers = max(use.registers for use in variants)
        local = max(use.local for use in variants)
        yield f'{name:40} {len(variants):8} {registers:9} {local:11}'


def unexpected(uses):
    """Lines about functions that use local memory and are not allowed to."""
    for use in uses:
        if use.local and not any(re.search(pattern, use.function) for pattern in ALLOWED):
            yield f'{use.function} uses {use.local} bytes of local memory on {use.architecture}'


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('report', type=Path, help='what nvcc printed with --resource-usage')
    uses = parse(parser.parse_args(arguments).report.read_text())
    if not uses:
        return 'there is no kernel in the report: was it made with --resource-usage?'
    name_functions(uses)
    print(*table(uses), sep='\n')
    return '\n'.join(unexpected(uses)) or None


if __name__ == '__main__':
    sys.exit(main())
