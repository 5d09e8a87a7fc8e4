"""Makes the classes of the runners immutable, and sees to it that they and their modules stay as they were."""

import builtins
import operator
import os
import re
import sys
import time
import types

# Py_TPFLAGS_IMMUTABLETYPE, since Python 3.10.
IMMUTABLE = 1 << 8
FLAGS_SEARCHED_WORDS = 60
TYPE_BYTES_MAX = 2048
# pytest itself adds attributes to these: what they had is only held against what they have.
EXTENDED = frozenset(("Function", "Session", "TerminalReporter", "TestCaseFunction", "UnitTestCase"))
# What the interpreter itself sets on a class.
UNHELD = frozenset(("__doc__", "__abstractmethods__"))
CODE_SECONDS = 0.05
KEPT = (type, types.FunctionType, types.BuiltinFunctionType)
TEST_NAME = re.compile(r"(^|/)(test_[^/]*|[^/]*_test|conftest|tests?/.*)\.py$")
FORBIDDEN_SYMBOLS = frozenset(("PyType_Modified", "PyFunction_SetDefaults", "PyObject_SetAttr", "PyObject_GenericSetAttr"))


def lock(classes, modules, state):
    """Returns a function that notes in `state` what is no longer as it was."""
    for one in modules:
        _give_builtins(one)
    shapes = [(one, dict(vars(one))) for one in classes]
    globals_ = [(one, {k: v for k, v in vars(one).items() if isinstance(v, KEPT)}) for one in modules]
    functions = _functions_of(shapes, globals_)
    codes = {id(one): (one, one.__code__, one.__defaults__, one.__kwdefaults__) for one in functions}
    ids = frozenset(codes)
    protected = frozenset(id(one) for one in classes)
    missing = object()
    _make_immutable([one for one in classes if one.__name__ not in EXTENDED])

    # Of the builtins that a module was given, those count that its code asks for.
    used = [(one, _without_unused(one, shape)) for one, shape in globals_]
    is_same_here = _comparison(shapes + used)
    is_same_code = _comparison_of_code([one[0] for one in codes.values()])

    now, last = time.monotonic, [0.0]

    def verify(is_end=True):
        problems = state["problems"]
        # The code of functions takes ten times as long: between fast tests it is looked at now and then.
        is_whole = is_end or now() - last[0] > CODE_SECONDS
        if is_whole:
            last[0] = now()
        if problems or (is_same_here() and (not is_whole or is_same_code())):
            return
        for one, shape in shapes:
            found = vars(one)
            for name, value in shape.items():
                if found.get(name, missing) is not value and name not in UNHELD:
                    problems.append("%s.%s was replaced" % (one.__name__, name))
        for one, shape in globals_:
            found = vars(one)
            for name, value in shape.items():
                if found.get(name, missing) is not value:
                    problems.append("%s.%s was replaced" % (one.__name__, name))
        for function, code, defaults, kwdefaults in codes.values():
            if function.__code__ is not code or function.__defaults__ is not defaults or function.__kwdefaults__ is not kwdefaults:
                problems.append("the code of %s was replaced" % function.__qualname__)

    _listen(verify, ids, protected)
    _keep_modules(modules, globals_)
    state["verify"] = verify
    return verify


def _comparison(held, every=all, each=map, same=operator.is_):
    """Returns a function that says whether everything is as it was. It is asked for every test, so the interpreter loops."""
    looks = []
    for one, shape in held:
        names = [name for name in shape if name not in UNHELD]
        if names:
            # Of one name the value itself is given, not a tuple.
            names = names if len(names) > 1 else names * 2
            looks.append((operator.itemgetter(*names), vars(one), tuple(shape[name] for name in names)))
    looks = tuple(looks)

    def is_unchanged():
        try:
            for look, where, values in looks:
                if not every(each(same, look(where), values)):
                    return False
        except KeyError:
            return False
        return True

    return is_unchanged


def _comparison_of_code(functions, every=all, each=map, same=operator.is_):
    looks = [(get, [get(one) for one in functions]) for get in map(operator.attrgetter, ("__code__", "__defaults__", "__kwdefaults__"))]

    def is_unchanged():
        for get, values in looks:
            if not every(each(same, each(get, functions), values)):
                return False
        return True

    return is_unchanged


def _without_unused(module, shape):
    names, given = _names_in(module), vars(builtins)
    return {name: value for name, value in shape.items() if name in names or given.get(name) is not value}


def _names_in(module):
    """Every name that code of a module asks for."""
    found, seen = set(), set()
    open_codes = [one.__code__ for one in _functions_of([], [(module, vars(module))])]
    for one in vars(module).values():
        if isinstance(one, type) and one.__module__ == module.__name__:
            open_codes += [function.__code__ for function in _functions_of([(one, vars(one))], [])]
    while open_codes:
        code = open_codes.pop()
        if id(code) not in seen:
            seen.add(id(code))
            found.update(code.co_names)
            open_codes += [one for one in code.co_consts if isinstance(one, types.CodeType)]
    return found


def _give_builtins(module):
    """A module that has them itself does not ask for those that everybody can replace."""
    for name, value in vars(builtins).items():
        if not name.startswith("_") and isinstance(value, (type, types.BuiltinFunctionType)):
            vars(module).setdefault(name, value)


def _functions_of(shapes, globals_):
    found = {}
    for _, shape in shapes + globals_:
        for value in shape.values():
            inner = getattr(value, "__func__", value)
            if isinstance(inner, property):
                inner = inner.fget
            if isinstance(inner, types.FunctionType):
                found[id(inner)] = inner
    return found.values()


def _make_immutable(classes):
    """Sets the flag that types of the interpreter itself have: nothing of the language replaces their attributes."""
    if sys.version_info < (3, 10) or sys.implementation.name != "cpython":
        return
    import ctypes

    word = ctypes.sizeof(ctypes.c_ulong)
    for one in classes:
        for at in range(0, FLAGS_SEARCHED_WORDS * word, word):
            field = ctypes.c_ulong.from_address(id(one) + at)
            if field.value == one.__flags__:
                field.value |= IMMUTABLE
                break


def _clocks():
    import datetime

    return [datetime.datetime, datetime.date] + [one for one in vars(time).values() if isinstance(one, types.BuiltinFunctionType)]


def _keep_modules(modules, globals_):
    names = {id(one): frozenset(shape) for one, shape in globals_}
    # Libraries that freeze the time put another clock into every module: those of the runner keep theirs, and nothing fails.
    clocks = frozenset(id(one) for one in _clocks())

    class KeptModule(types.ModuleType):
        def __setattr__(self, name, value):
            if name in names.get(id(self), ()) and vars(self).get(name) is not value:
                if id(vars(self).get(name)) in clocks:
                    return
                raise AttributeError("phaselock: %s.%s cannot be replaced in an observed run" % (self.__name__, name))
            super().__setattr__(name, value)

        def __delattr__(self, name):
            if name in names.get(id(self), ()):
                raise AttributeError("phaselock: %s.%s cannot be removed in an observed run" % (self.__name__, name))
            super().__delattr__(name)

    for one in modules:
        if type(one) is types.ModuleType:
            one.__class__ = KeptModule


def _listen(verify, functions, protected):
    """An audit hook cannot be taken away. It sees code replaced, dictionaries of classes taken out, and every file executed."""
    here = os.path.realpath(os.getcwd()) + os.sep
    installed = tuple(os.path.realpath(one) + os.sep for one in (sys.prefix, sys.base_prefix))

    def is_of_project(path):
        real = os.path.realpath(path)
        return not os.path.isabs(path) or (real.startswith(here) and not real.startswith(installed))

    is_test, is_text, read = TEST_NAME.search, isinstance, _reader()

    def check_text(source, path):
        """What is compiled under the name of a test file is what the file holds."""
        if not is_text(path, str) or not is_text(source, (str, bytes)) or not is_test(path) or not is_of_project(path):
            return
        text = read(path)
        if text is not None and _plain(source) != _plain(text):
            raise RuntimeError("phaselock: %s was to be compiled from another text than the file has" % path)

    def hook(event, args):
        if event == "compile":
            check_text(args[0], args[1])
        elif event == "object.__setattr__":
            if id(args[0]) in functions or id(args[0]) in protected:
                raise RuntimeError("phaselock: %s cannot be changed in an observed run" % args[1])
        elif event == "gc.get_referents":
            for one in args[0] if isinstance(args[0], tuple) else args:
                if isinstance(one, types.MappingProxyType) or id(one) in protected:
                    raise RuntimeError("phaselock: the inside of a class is not given out in an observed run")
        elif event == "ctypes.dlsym":
            if len(args) > 1 and args[1] in FORBIDDEN_SYMBOLS:
                raise RuntimeError("phaselock: %s is not there in an observed run" % args[1])
        elif event == "ctypes.cdata":
            if any(0 <= args[0] - start < TYPE_BYTES_MAX for start in protected):
                raise RuntimeError("phaselock: the memory of a class is not given out in an observed run")
        elif event in ("sys.setprofile", "sys.settrace"):
            if is_of_project(sys._getframe(1).f_code.co_filename):
                raise RuntimeError("phaselock: only installed packages trace an observed run")
        elif event == "exec":
            verify(is_end=False)

    sys.addaudithook(hook)


def _reader():
    opened, read, close, flags = os.open, os.read, os.close, os.O_RDONLY

    def reads(path):
        try:
            file = opened(path, flags)
        except OSError:
            return None
        parts = []
        while not parts or parts[-1]:
            parts.append(read(file, 1 << 20))
        close(file)
        return b"".join(parts)

    return reads


def _plain(text, kind=type, string=str):
    found = text.encode("utf-8", "surrogateescape") if kind(text) is string else text
    return (found[3:] if found[:3] == b"\xef\xbb\xbf" else found).replace(b"\r\n", b"\n").rstrip(b"\n")
