"""Loaded by Python before anything of the project, in every Python process of an observed run."""

import sys

RUNNERS = ("unittest", "pytest", "py.test")
# Programs in Python that become the runner: `poetry run pytest`. It hands the environment on, so that the runner itself is
# guarded, and its scripts are in tables of pyproject.toml that RED records. Of pipenv and pdm that is not known: a script
# named `python` in a file that is not recorded would run in place of the tests.
LAUNCHERS = ("poetry",)


def _start():
    import os

    try:
        _ignore_compiled()
        runners = _runners()
        if runners:
            _leave_no_trace()
            _load("phaselock_guard").guard(runners != {"unittest"})
    except BaseException as error:  # Python itself would go on without a guard.
        os.write(2, ("phaselock: the guard of Python did not start: %r\n" % error).encode())
        os._exit(1)


def _leave_no_trace():
    """Programs that tests start are not guarded and may end as they like; no variable and no module names the guard."""
    import os

    own = os.path.dirname(os.path.abspath(__file__))
    folders = [one for one in os.environ.pop("PYTHONPATH", "").split(os.pathsep) if one not in ("", own)]
    if folders:
        os.environ["PYTHONPATH"] = os.pathsep.join(folders)
    guard = os.path.join(os.path.dirname(own), "node", "guard.cjs")
    for name in ("NODE_OPTIONS", "npm_config_node_options"):
        rest = os.environ.pop(name, "").replace('--require "%s"' % guard, "").strip()
        if rest:
            os.environ[name] = rest
    sys.path[:] = [one for one in sys.path if os.path.abspath(one) != own]


def _ignore_compiled():
    """What was compiled before may not be what the source says: outside of installed packages only sources are loaded."""
    import importlib._bootstrap_external as loading
    import os
    import site

    packages = getattr(site, "getsitepackages", list)()
    trusted = tuple(os.path.realpath(one) + os.sep for one in [os.path.dirname(os.__file__)] + packages)
    cached, compiled = loading.cache_from_source, loading.SourcelessFileLoader.get_code

    def is_trusted(path):
        return os.path.realpath(path).startswith(trusted)

    def cache_from_source(path, *args, **options):
        if is_trusted(path):
            return cached(path, *args, **options)
        raise NotImplementedError("phaselock: nothing compiled is kept of the project")

    def get_code(self, fullname):
        if is_trusted(self.get_filename(fullname)):
            return compiled(self, fullname)
        raise ImportError("phaselock: %s is there without its source" % fullname)

    loading.cache_from_source = cache_from_source
    loading.SourcelessFileLoader.get_code = get_code


def _runners():
    """Which runners the command names: `python -m unittest`, `pytest`, `coverage run -m pytest` and the like."""
    names = [word.rsplit("/", 1)[-1] for word in _words()]
    script = next((name for name in names if not name.startswith("-")), "")
    return set() if script in LAUNCHERS else set(names).intersection(RUNNERS)


def _words():
    words = getattr(sys, "orig_argv", None)
    if words is None:
        with open("/proc/self/cmdline", encoding="utf-8", errors="replace") as file:
            words = file.read().split("\0")
    return words[1:50]


def _load(name):
    """Takes a file of this folder, whatever else has its name."""
    import importlib.util
    import os

    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".py")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _load_next():
    """The sitecustomize that Python would have taken without this one, unless it lies in the project."""
    import importlib.machinery
    import importlib.util
    import os

    own = os.path.dirname(os.path.abspath(__file__))
    here = os.path.realpath(os.getcwd())
    installed = (os.path.realpath(sys.prefix), os.path.realpath(sys.base_prefix))

    def is_elsewhere(entry):
        path = os.path.realpath(entry)
        is_installed = any(path.startswith(one + os.sep) for one in installed)
        return path != os.path.realpath(own) and (is_installed or not (path + os.sep).startswith(here + os.sep))

    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", [one for one in sys.path if is_elsewhere(one)])
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)


_start()
_load_next()
