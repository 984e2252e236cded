"""Print the lowest versions that pyproject.toml admits, as constraints for pip: lowest.py EXTRA... > FILE."""

import re
import sys
from pathlib import Path

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    from pip._vendor import tomli as tomllib


def main(extras):
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *(part for extra in extras for part in project["optional-dependencies"][extra])]
    for requirement in dict.fromkeys(wanted):
        if found := re.match(r"([\w-]+)(?:\[\w+\])?>=([\w.]+)", requirement):
            print("==".join(found.groups()))


if __name__ == "__main__":
    main(sys.argv[1:])
