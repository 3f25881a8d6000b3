"""Which lines of the mutated modules ran."""

import sys
from collections import defaultdict

from .mutants import ROOT, paths

FILES = {str(ROOT / path): path for path in paths()}


class Lines:
    """Between start() and stop(): {path: a number whose bit k says that line k ran}."""

    def __init__(self):
        self.masks = defaultdict(int)
        self.watched = {}  # frames' files, told once

    def start(self):
        self.masks.clear()
        if monitoring := getattr(sys, "monitoring", None):  # from Python 3.12 on, and much quicker
            if monitoring.get_tool(monitoring.COVERAGE_ID) is None:
                monitoring.use_tool_id(monitoring.COVERAGE_ID, "mutation")
                line = monitoring.events.LINE
                monitoring.register_callback(monitoring.COVERAGE_ID, line, self._line)
                monitoring.set_events(monitoring.COVERAGE_ID, line)
            monitoring.restart_events()
        else:
            sys.settrace(self._called)

    def stop(self):
        if not hasattr(sys, "monitoring"):
            sys.settrace(None)
        return dict(self.masks)

    def _line(self, code, line):
        path = FILES.get(code.co_filename)
        if path:
            self.masks[path] |= 1 << line
        return sys.monitoring.DISABLE

    def _called(self, frame, event, argument):
        path = FILES.get(frame.f_code.co_filename)
        if not path:
            return None
        frame.f_trace_lines = True
        masks = self.masks

        def ran(frame, event, argument):
            if event == "line":
                masks[path] |= 1 << frame.f_lineno
            return ran

        return ran
