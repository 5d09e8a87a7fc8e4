"""Gives every test of unittest the assertions that its class was made with, whatever was put into it since."""

import sys
import types

FIXED = ("assert", "fail", "_")


def hold(state):
    """Called once the methods of TestCase are as they stay."""
    from unittest import case

    TestCase = case.TestCase
    names = frozenset(
        name
        for name, value in vars(TestCase).items()
        if name.startswith(FIXED) and not name.startswith("__") and isinstance(value, (types.FunctionType, classmethod))
    )
    tables, running, equality = {}, {}, {}
    # What the project replaces in the builtins later is not used here.
    type_, id_, dict_, getattr_, own = type, id, dict, getattr, object.__getattribute__

    def table_of(cls):
        found = tables.get(cls)
        if found is None:
            found = tables[cls] = {n: next(vars(one)[n] for one in cls.__mro__ if n in vars(one)) for n in names}
        return found

    def __getattribute__(self, name):
        if name not in names:
            return own(self, name)
        cls = type_(self)
        attribute = (running.get(id_(self)) or table_of(cls))[name]
        bind = getattr_(type_(attribute), "__get__", None)
        return attribute if bind is None else bind(attribute, self, cls)

    # A class is known from the moment it is made.
    made = vars(TestCase).get("__init_subclass__")

    def __init_subclass__(cls, *args, **kwds):
        if made is not None:
            made.__get__(None, cls)(*args, **kwds)
        table_of(cls)

    call = TestCase.__call__

    def __call__(self, *args, **kwds):
        running[id_(self)] = table_of(type_(self))
        try:
            return call(self, *args, **kwds)
        finally:
            running.pop(id_(self), None)
            equality.pop(id_(self), None)

    asked, add = TestCase._getAssertEqualityFunc, TestCase.addTypeEqualityFunc

    def _getAssertEqualityFunc(self, first, second):
        taken, current = equality.get(id_(self)), own(self, "_type_equality_funcs")
        if taken is not None and (type_(current) is not dict_ or current != taken):
            state["problems"].append("how a test compares was changed while it ran")
        return asked(self, first, second)

    def addTypeEqualityFunc(self, typeobj, function):
        add(self, typeobj, function)
        module = sys.modules.get(type_(self).__module__)
        if id_(self) in equality and sys._getframe(1).f_code.co_filename == getattr_(module, "__file__", None):
            equality[id_(self)][typeobj] = function

    def begun(self):
        equality[id_(self)] = dict_(own(self, "_type_equality_funcs"))

    TestCase._getAssertEqualityFunc = _getAssertEqualityFunc
    TestCase.addTypeEqualityFunc = addTypeEqualityFunc
    TestCase.__getattribute__ = __getattribute__
    TestCase.__init_subclass__ = classmethod(__init_subclass__)
    TestCase.__call__ = __call__
    for one in [TestCase] + _below(TestCase):
        table_of(one)
    return begun


def _below(cls):
    return [found for one in cls.__subclasses__() for found in [one] + _below(one)]
