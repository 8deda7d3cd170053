"""Prints one of the README's commands: ``python tools/readme_command.py {train,test}``."""
import re
import sys
from pathlib import Path

readme = Path(__file__).resolve().parent.parent / 'README.md'
found = re.search(r'<!-- command: %s -->\n```bash\n(.*?)```' % re.escape(sys.argv[1]),
                  readme.read_text(), re.DOTALL)
if not found:
    sys.exit('README.md has no command named %r' % sys.argv[1])
print(found.group(1), end='')
