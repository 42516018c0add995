"""A vLLM 0.30.0 scheduler that also writes what each step held and how long it took, for --scheduler-cls.

HOLDFAST_STEPS names the file: one line a step, tokens,pairs,context,ms. A step lasts until the next one is
scheduled while there is more to do, so that the work between two steps is in it; else until its output is applied.
"""

import os
import time

import vllm
from vllm.v1.core.sched.scheduler import Scheduler

if not vllm.__version__.startswith("0.30.0"):
    raise RuntimeError(f"the recorder was tried on vLLM 0.30.0 only, this is {vllm.__version__}")


class StepRecorder(Scheduler):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        # Line by line, since the process may be killed at any time.
        self._steps = open(os.environ["HOLDFAST_STEPS"], "w", buffering=1)
        self._steps.write("tokens,pairs,context,ms\n")
        self._step = None

    def schedule(self, *args, **kwargs):
        began = time.perf_counter()
        self._write(began)
        output = super().schedule(*args, **kwargs)
        if output.total_num_scheduled_tokens > 0:
            self._step = (began, *self._load(output))
        return output

    def update_from_output(self, *args, **kwargs):
        outputs = super().update_from_output(*args, **kwargs)
        if not self.has_requests():
            self._write(time.perf_counter())
        return outputs

    def _load(self, output):
        pairs, context = 0, 0
        for request_id, tokens in output.num_scheduled_tokens.items():
            request = self.requests[request_id]
            before = request.num_computed_tokens - tokens
            if tokens == 1 and before >= request.num_prompt_tokens:
                context += before
            else:
                pairs += tokens * (before + tokens / 2)
        return output.total_num_scheduled_tokens, pairs, context

    def _write(self, now):
        if self._step is None:
            return
        began, tokens, pairs, context = self._step
        self._step = None
        self._steps.write(f"{tokens},{pairs:g},{context},{(now - began) * 1e3:.3f}\n")
