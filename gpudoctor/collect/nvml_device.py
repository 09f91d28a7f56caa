"""One GPU handle asked call by call through the bindings handed in: each refusal becomes Missing(word) and costs no other.

Calls are looked up by name when they are made, so that a binding or a driver that lacks one loses that field only. Reading
many fields at once (`nvmlDeviceGetFieldValues`) would be fewer calls, but which ids it knows differs by driver.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from gpudoctor.collect.nvml_processes import Process, ProcessLists
from gpudoctor.knowledge import nvml_returns
from gpudoctor.model.missing import Maybe, Missing

# Return codes of nvml.h, stable numbers of its ABI.
FUNCTION_NOT_FOUND, GPU_IS_LOST, RESET_REQUIRED = 13, 15, 16
NOT_FROM_NVML = -1
NOT_AVAILABLE = frozenset({0xFFFF_FFFF, 0xFFFF_FFFF_FFFF_FFFF})  # NVML_VALUE_NOT_AVAILABLE in either width
TEXT_BYTES = 96  # NVML_DEVICE_NAME_V2_BUFFER_SIZE, the longest text asked for here
UNKNOWN_FUNCTION = Missing(nvml_returns.word(FUNCTION_NOT_FOUND))
UNAVAILABLE = Missing("not_available")

Calls = Mapping[str, tuple[Any, ...]]  # key -> name of the call and its arguments after the handle


class Binding:
    """The bindings module and the library under it."""

    __slots__ = ("_words", "error", "library", "module", "processes")

    def __init__(self, module: Any, library: Any) -> None:  # the bindings ship no types, ctypes has none
        self.module, self.library = module, library
        self.processes = ProcessLists(library)
        self.error: type[Exception] = module.NVMLError
        self._words: dict[int, Missing] = {}

    def word(self, code: int) -> Missing:
        """Return what stands for NVML's return code."""
        missing = self._words.get(code)
        if missing is None:
            missing = self._words[code] = Missing(nvml_returns.word(code))
        return missing

    def refused(self, error: Exception) -> tuple[Missing, int]:
        """Return what stands for an exception of the bindings, and NVML's return code."""
        code: int = getattr(error, "value", NOT_FROM_NVML) if isinstance(error, self.error) else NOT_FROM_NVML
        if code == FUNCTION_NOT_FOUND or isinstance(error, AttributeError):
            return UNKNOWN_FUNCTION, FUNCTION_NOT_FOUND
        if code == NOT_FROM_NVML:
            return Missing(f"binding: {type(error).__name__}"), code
        return self.word(code), code

    def ask(self, name: str, *arguments: object) -> Any:  # the caller knows what the call returns
        """Return the answer of a call about the system, or Missing."""
        try:
            return getattr(self.module, name)(*arguments)
        except Exception as error:  # noqa: BLE001  # whatever the bindings raise concerns this answer only
            return self.refused(error)[0]


class Device:
    """One handle. After GPU_IS_LOST it is asked nothing more: a call to a GPU off the bus may block."""

    __slots__ = (
        "_binding", "_bound", "_handle", "_module", "_refusal", "_stopped", "answered", "index", "status",
    )  # fmt: skip

    def __init__(self, binding: Binding, index: int) -> None:
        self.index, self.status, self.answered = index, "ok", False
        self._binding, self._module = binding, binding.module
        self._stopped: Missing | None = None
        self._refusal: Missing | None = None
        self._handle: Any = None  # an opaque pointer
        self._bound: tuple[Calls, list[tuple[str, Callable[[], Any]]]] = ({}, [])
        try:
            self._handle = self._module.nvmlDeviceGetHandleByIndex(index)
        except Exception as error:  # noqa: BLE001  # without a handle every field has this reason
            self._stopped, _ = binding.refused(error)
            self.status = self._stopped.reason

    def ask(self, name: str, *arguments: object) -> Any:  # the caller knows what the call returns
        """Return the call's answer or Missing."""
        if self._stopped is not None:
            return self._stopped
        try:
            answer = getattr(self._module, name)(self._handle, *arguments)
        except Exception as error:  # noqa: BLE001  # whatever the bindings raise concerns this field only
            return self._refused(*self._binding.refused(error))
        self.answered = True
        return answer

    def ask_all(self, calls: Calls) -> dict[str, Any]:  # as in `ask`
        """Return by key what `ask` would return. One loop over bound calls: a frame for each would double their cost."""
        told: dict[str, Any] = {}
        refusals = 0
        for key, call in self._bind(calls) if self._stopped is None else ():
            try:
                answer = call()
                told[key] = UNAVAILABLE if answer.__class__ is int and answer in NOT_AVAILABLE else answer
            except Exception as error:  # noqa: BLE001, PERF203  # each refusal concerns its own field only
                told[key] = self._refused(*self._binding.refused(error))
                refusals += 1
                if self._stopped is not None:
                    break
        self.answered = self.answered or len(told) > refusals
        if len(told) < len(calls):
            rest = UNKNOWN_FUNCTION if self._stopped is None else self._stopped
            told = {key: told.get(key, rest) for key in calls}
        return told

    def _bind(self, calls: Calls) -> list[tuple[str, Callable[[], Any]]]:
        if self._bound[0] is not calls:
            known = ((key, getattr(self._module, name, None), rest) for key, (name, *rest) in calls.items())
            bound: list[tuple[str, Callable[[], Any]]] = [
                (key, partial(call, self._handle, *rest)) for key, call, rest in known if call
            ]
            self._bound = (calls, bound)
        return self._bound[1]

    def _refused(self, missing: Missing, code: int) -> Missing:
        if self._refusal is None:
            self._refusal = missing
        if code == GPU_IS_LOST:
            self._stopped, self.status = missing, missing.reason
        elif code == RESET_REQUIRED:
            self.status = missing.reason
        return missing

    def settle(self) -> str:
        """Return the status: "ok", what NVML said of the whole GPU, or its refusal where it answered nothing at all."""
        if self.status == "ok" and not self.answered and self._refusal is not None:
            self.status = self._refusal.reason
        return self.status

    def number(self, name: str, *arguments: object) -> Maybe[int]:
        """Return a whole number or Missing."""
        answer = self.ask(name, *arguments)
        return UNAVAILABLE if answer in NOT_AVAILABLE else answer

    def text(self, name: str) -> Maybe[str]:
        """Return a text or Missing; the bindings raise where it is not UTF-8, so it is then read past them."""
        if self._stopped is not None:
            return self._stopped
        try:
            told: str | bytes = getattr(self._module, name)(self._handle)
            answer: Maybe[str] = told.decode(errors="replace") if isinstance(told, bytes) else told
        except UnicodeDecodeError:
            answer = self._raw_text(name)
        except Exception as error:  # noqa: BLE001  # whatever the bindings raise concerns this field only
            return self._refused(*self._binding.refused(error))
        self.answered = True
        return answer

    def _raw_text(self, name: str) -> Maybe[str]:
        buffer = ctypes.create_string_buffer(TEXT_BYTES)
        code = getattr(self._binding.library, name)(self._handle, buffer, ctypes.c_uint(TEXT_BYTES))
        return self._binding.word(code) if code else buffer.value.decode(errors="replace")

    def running(self, kind: str) -> list[Process] | Missing:
        """Return the processes of one kind ("Compute", "Graphics") or Missing."""
        if self._stopped is not None:
            return self._stopped
        answer = self._binding.processes.running(kind, self._handle)
        if isinstance(answer, int):
            return self._refused(self._binding.word(answer), answer)
        self.answered = True
        return answer
