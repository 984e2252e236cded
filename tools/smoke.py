"""Does an installed evoke import, from a folder that holds no checkout?"""

import importlib
import pkgutil

import evoke

for module in pkgutil.iter_modules(evoke.__path__, "evoke."):
    if module.name != "evoke.__main__":
        try:
            importlib.import_module(module.name)
        except ImportError as error:
            if error.name is None or error.name.partition(".")[0] == "evoke":
                raise
            print(f"{module.name}: needs {error.name}, which is optional")
evoke.show_config()
print(f"evoke {evoke.__version__} imports from {evoke.__path__[0]}")
