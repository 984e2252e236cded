"""Check what a wheel holds: the package and nothing else, and extension modules that export their entry point only.

It has to be small and, if built by Python 3.11 or newer, good for every newer one."""

import re
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

LARGEST = 1_500_000  # bytes
ALLOWED = re.compile(
    r"evoke/(\w+/)*\w+(\.py|\.pyi|\.[\w-]+\.so)|evoke/py\.typed|evoke/export/page(_\w+)?\.(html|js)|"
    r"evoke_learn-[^/]+\.dist-info/.+"
)


def check_file(path):
    """Yield a complaint where the wheel is large or made for one Python without need."""
    if (size := path.stat().st_size) > LARGEST:
        yield f"{path.name} has {size:,} bytes, more than {LARGEST:,}"
    free_threaded = sysconfig.get_config_var("Py_GIL_DISABLED")
    if sys.version_info >= (3, 11) and not free_threaded and "-abi3-" not in path.name:
        yield f"{path.name} is not for every Python from 3.11 on"


def check_names(names):
    """Yield a complaint for every file that does not belong into a wheel."""
    for name in names:
        if not name.endswith("/") and not ALLOWED.fullmatch(name):
            yield f"{name} does not belong into the wheel"


def check_symbols(extension):
    """Yield a complaint for every dynamic symbol that an extension module exports beside PyInit_<module>."""
    listing = subprocess.run(["nm", "-D", "--defined-only", extension], capture_output=True, text=True, check=True)
    entry = "PyInit_" + extension.name.split(".")[0]
    for line in listing.stdout.splitlines():
        symbol = line.split()[-1]
        if symbol != entry and not symbol.startswith(("_init", "_fini")):
            yield f"{extension.name} exports {symbol}"


def main(path):
    """Print all complaints about the wheel at `path`; return how many there are."""
    complaints = list(check_file(Path(path)))
    with zipfile.ZipFile(path) as wheel, tempfile.TemporaryDirectory() as folder:
        complaints += check_names(wheel.namelist())
        wheel.extractall(folder)
        extensions = sorted(Path(folder).rglob("*.so"))
        if not extensions:
            complaints.append("no extension module in the wheel")
        if sys.platform == "linux":
            for extension in extensions:
                complaints += check_symbols(extension)
    for complaint in complaints:
        print(complaint)
    print(f"{Path(path).name}: {len(extensions)} extension modules, {len(complaints)} complaints")
    return len(complaints)


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1]), 1))
