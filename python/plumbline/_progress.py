# SPDX-License-Identifier: Apache-2.0
"""What a check says while it runs."""

from __future__ import annotations

import sys
import time
from typing import Any, Callable, Optional, Union


class Progress:
    """Tells a function, or a line of standard error, how many cases are done.

    wanted: as `progress` of check(): a function of the number done and of all; True, False or None.
    """

    case_done: Optional[Callable[[int, int], Any]]
    """To be called after each case; None: nobody wants to know."""

    def __init__(self, name: str, wanted: Union[Callable[[int, int], Any], bool, None]) -> None:
        self._name = name
        self._width = 0
        self._next = time.monotonic() + (0.0 if wanted is True else 2.0)
        self._terminal = sys.stderr is not None and sys.stderr.isatty()
        if wanted is True or (wanted is None and self._terminal):
            self.case_done = self._write
        else:
            self.case_done = wanted if callable(wanted) else None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: Any) -> None:
        if self._terminal and self._width:
            print("\r" + " " * self._width + "\r", end="", file=sys.stderr, flush=True)

    def _write(self, done: int, cases: int) -> None:
        """At most a line a second: on a terminal always the same one."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + 1.0
        line = f"{self._name}: {done} of {cases} cases"
        self._width = max(self._width, len(line))
        begin, end = ("\r", "") if self._terminal else ("", "\n")
        print(f"{begin}{line:<{self._width}}", end=end, file=sys.stderr, flush=True)
