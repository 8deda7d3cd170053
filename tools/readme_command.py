"""Prints one of the README's commands: ``python tools/readme_command.py {train,test}``."""

import re
import sys
from pathlib import Path

readme = Path(__file__).resolve().parent.parent / 'README.md'
found = re.search(
    rf'<!-- command: {re.escape(sys.argv[1])} -->\n```bash\n(.*?)```', readme.read_text(), re.DOTALL
)
if not found:
    sys.exit(f'README.md has no command named {sys.argv[1]!r}')
print(found.group(1), end='')
