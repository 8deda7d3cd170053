# shellcheck shell=bash
# What the scripts beside this file share; each begins with it. They run in the root of their copy of the repository.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PIP_DISABLE_PIP_VERSION_CHECK=1
# The tests start many processes, and each would compile all modules that it imports.
unset PYTHONDONTWRITEBYTECODE
# Most modules that pip installs are never imported. As a variable, the option takes a false value.
export PIP_NO_COMPILE=0

fail() {  # MESSAGE
    echo "error: $*" >&2
    exit 1
}

# Prints the path of an interpreter that can make virtual environments, from PATH or pyenv.
find_python() {  # VERSION, or nothing for python3
    local python
    for python in $(type -ap "python${1:-3}") "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"${1:-none}".*/bin/python3; do
        if "$python" -c 'import ensurepip, venv' 2>/dev/null; then
            "$python" -c 'import os, sys; print(os.path.realpath(sys.executable))'
            return
        fi
    done
    return 1
}

# Prints the versions of Python that pyproject.toml names, the oldest first.
supported_pythons() {
    sed -n 's/.*"Programming Language :: Python :: \(3\.[0-9]*\)".*/\1/p' pyproject.toml
}

# Prints those of them that are here.
found_pythons() {
    local version
    for version in $(supported_pythons); do
        if find_python "$version" >/dev/null; then echo "$version"; fi
    done
}

# Makes python3 an interpreter of a version, in this script and what it starts.
use_python() {  # VERSION, or nothing for the python3 on PATH
    [ -n "${1:-}" ] || return 0
    local python folder
    python=$(find_python "$1") || fail "Python $1 with the module venv is missing: install it, or name another version"
    mkdir -p build
    folder=$(mktemp -d "$PWD/build/python-XXXX")
    # A link would make its folder the home of virtual environments.
    printf '#!/bin/sh\nexec "%s" "$@"\n' "$python" >"$folder/python3"
    chmod +x "$folder/python3"
    export PATH="$folder:$PATH"
}

# Has pip install a version of NumPy wherever this script asks for NumPy.
use_numpy() {  # VERSION, or nothing for the newest
    [ -n "${1:-}" ] || return 0
    mkdir -p build
    echo "numpy==$1.*" >build/constraints.txt
    export PIP_CONSTRAINT=$PWD/build/constraints.txt
}

# Fails where the tests ran without the core or with another NumPy: many would pass.
check_tested() {  # VERSION OF NUMPY, or nothing
    .venv/bin/python - "${1:-}" <<'CODE'
import sys

import chainer
import chainerx
import numpy

chainer.print_runtime_info()
assert chainerx.is_available()
assert f'{numpy.__version__}.'.startswith(f'{sys.argv[1]}.' * bool(sys.argv[1]))
CODE
}

# Activates a virtual environment of this copy with an editable install; makes it if there is none.
use_venv() {  # FOLDER, EXTRAS
    [ -e "$1/bin/activate" ] || python3 -m venv "$1"
    # shellcheck source=/dev/null
    . "$1/bin/activate"
    pip install --quiet -e ".[$2]"
}

# Runs a command of the README, word for word.
run_readme() {  # NAME
    python3 tools/readme_command.py "$1"
    bash -euo pipefail -c "$(python3 tools/readme_command.py "$1")"
}
