"""Modes of a block or a function: `with no_grad():`, `@autocast("cpu")`."""

from functools import wraps

from torch_library import _native


class _Mode:
    """A context manager that is also a decorator, and may be entered several times, also nested."""

    def __init__(self):
        self._entered = []

    def __enter__(self):
        self._entered.append(self._begin())
        return self

    def __exit__(self, *_):
        self._end(self._entered.pop())

    def __call__(self, function):
        @wraps(function)
        def within(*args, **kwargs):
            with self._again():
                return function(*args, **kwargs)

        return within

    def _again(self):
        return type(self)()


class _GradMode(_Mode):
    _enabled = True

    def _begin(self):
        return _native.set_grad_enabled(self._enabled)

    def _end(self, before):
        _native.set_grad_enabled(before)


class no_grad(_GradMode):
    """Turns the recording of gradients off."""

    _enabled = False

    def __new__(cls, function=None):
        mode = super().__new__(cls)
        if function is None:
            return mode
        mode.__init__()
        return mode(function)  # `@no_grad` without parentheses


class enable_grad(_GradMode):
    """Turns the recording of gradients on, also inside `no_grad`."""

    def __new__(cls, function=None):
        mode = super().__new__(cls)
        if function is None:
            return mode
        mode.__init__()
        return mode(function)


class set_grad_enabled(_GradMode):
    """Turns the recording of gradients on or off: immediately, and if used in a `with`, until its end."""

    def __init__(self, mode):
        super().__init__()
        self._enabled = bool(mode)
        self._before = _native.set_grad_enabled(self._enabled)

    def _begin(self):
        _native.set_grad_enabled(self._enabled)
        return self._before

    def _again(self):
        return set_grad_enabled(self._enabled)

    def __call__(self, function):
        _native.set_grad_enabled(self._before)
        return super().__call__(function)


class inference_mode(_Mode):
    """Turns off the recording of gradients and the version counters and view tracking that it needs."""

    def __init__(self, mode=True):
        super().__init__()
        self._mode = bool(mode)

    def _begin(self):
        return _native.enter_inference_mode(self._mode)

    def _end(self, number):
        _native.leave(number)

    def _again(self):
        return inference_mode(self._mode)


class autocast(_Mode):
    """Runs suitable operators in lower precision: `with autocast("cpu", dtype=torch_library.bfloat16):`."""

    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        super().__init__()
        self._options = (device_type, dtype, enabled, cache_enabled)

    def _begin(self):
        return _native.enter_autocast(*self._options)

    def _end(self, number):
        _native.leave(number)

    def _again(self):
        return autocast(*self._options)
