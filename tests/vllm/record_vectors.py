"""What vLLM's own scheduler decides, step by step, in the format of tests/vectors.

    python record_vectors.py replay FILE...          play the scenarios of FILEs again, print what differs
    python record_vectors.py make SEED COUNT FILE    play COUNT random scenarios, write them to FILE (.gz or not)

Needs a vLLM 0.30.0 (tests/vllm/install.py makes one) and MODEL_DIR, the folder of any small model's config.json. No
model runs: arrivals, aborts and step times are scripted, the scheduler decides.
"""

import gzip
import json
import os
import random
import sys

import torch
from vllm.config import CacheConfig, ModelConfig, SchedulerConfig, VllmConfig
from vllm.sampling_params import SamplingParams
from vllm.utils.hashing import sha256
from vllm.v1.core.kv_cache_utils import get_request_block_hasher, init_none_hash
from vllm.v1.core.sched.async_scheduler import AsyncScheduler
from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.kv_cache_interface import FullAttentionSpec, KVCacheConfig, KVCacheGroupSpec
from vllm.v1.outputs import ModelRunnerOutput
from vllm.v1.request import Request, RequestStatus
from vllm.v1.structured_output import StructuredOutputManager

MODEL_DIR = os.environ.get("MODEL_DIR", "")
OUTPUT_TOKENS = 10_000_000


def make_scheduler(config):
    model = ModelConfig(
        model=MODEL_DIR, dtype="float32", seed=0, max_model_len=config["max_model_len"], skip_tokenizer_init=True
    )
    cache = CacheConfig(
        block_size=config["block_size"], cache_dtype="auto", enable_prefix_caching=config["enable_prefix_caching"]
    )
    cache.num_gpu_blocks = config["num_gpu_blocks"]
    scheduling = SchedulerConfig(
        max_num_seqs=config["max_num_seqs"],
        max_num_batched_tokens=config["max_num_batched_tokens"],
        max_model_len=config["max_model_len"],
        policy=config["policy"],
        enable_chunked_prefill=True,
        async_scheduling=config["async_scheduling"],
        is_encoder_decoder=False,
    )
    whole = VllmConfig(scheduler_config=scheduling, model_config=model, cache_config=cache)
    # The CPU platform would turn it off, and would round the sizes.
    whole.scheduler_config.async_scheduling = config["async_scheduling"]
    whole.scheduler_config.max_num_batched_tokens = config["max_num_batched_tokens"]
    whole.scheduler_config.max_num_seqs = config["max_num_seqs"]
    whole.cache_config.block_size = config["block_size"]
    whole.cache_config.enable_prefix_caching = config["enable_prefix_caching"]
    spec = FullAttentionSpec(block_size=config["block_size"], num_kv_heads=1, head_size=1, dtype=torch.float32)
    kv = KVCacheConfig(
        num_blocks=config["num_gpu_blocks"], kv_cache_tensors=[], kv_cache_groups=[KVCacheGroupSpec(["layer"], spec)]
    )
    kind = AsyncScheduler if config["async_scheduling"] else Scheduler
    return kind(
        vllm_config=whole,
        kv_cache_config=kv,
        structured_output_manager=StructuredOutputManager(whole),
        block_size=config["block_size"],
        log_stats=True,
    )


def tokens_of(prompt):
    """Token j of a segment is a fixed function of both; equal only where segment and j are."""
    return [(segment * 7919 + j * 104_729) % 9_000_000 + 1 for segment, length in prompt for j in range(length)]


class Run:
    """The engine core's loop around the scheduler, with times instead of a device."""

    def __init__(self, scenario):
        self.scenario = scenario
        self.config = scenario["config"]
        self.scheduler = make_scheduler(self.config)
        self.hasher = get_request_block_hasher(self.config["block_size"], sha256)
        self.now = 0
        self.free_at = 0
        self.steps = 0
        self.queue = []
        self.ops = []
        self.queries = 0
        self.hits = 0
        self.next_token = OUTPUT_TOKENS
        self.in_flight = {}
        coming = [(r["at_us"], 0, at, "add", r) for at, r in enumerate(scenario["requests"])]
        leaving = [(a["at_us"], 1, at, "abort", a) for at, a in enumerate(scenario["aborts"])]
        self.inputs = sorted(coming + leaving, key=lambda each: each[:3])

    def play(self):
        depth = 2 if self.config["async_scheduling"] else 1
        while True:
            self.take_inputs()
            if self.scheduler.has_requests():
                executed = self.schedule()
                if len(self.queue) < depth and (executed or self.scheduler.has_requests()):
                    continue
            if self.queue:
                self.update()
            elif self.inputs:
                self.now = max(self.now, self.inputs[0][0])
            else:
                return self

    def take_inputs(self):
        while self.inputs and self.inputs[0][0] <= self.now:
            _, _, _, kind, what = self.inputs.pop(0)
            if kind == "add":
                self.add(what)
            else:
                self.abort(what["id"], self.now)

    def add(self, wanted):
        # The server caps an answer at the model's length before the engine sees it.
        params = SamplingParams(max_tokens=wanted["max_tokens"], ignore_eos=True)
        request = Request(
            request_id=wanted["id"],
            prompt_token_ids=tokens_of(wanted["prompt"]),
            sampling_params=params,
            pooling_params=None,
            mm_features=None,
            arrival_time=wanted["at_us"] / 1e6,
            priority=wanted["priority"],
            block_hasher=self.hasher if self.config["enable_prefix_caching"] else None,
        )
        self.scheduler.add_request(request)
        self.ops.append({"op": "add", "at_us": self.now, "id": wanted["id"]})

    def abort(self, name, at):
        request = self.scheduler.requests.get(name)
        if request is None or request.is_finished():
            return
        self.ops.append({
            "op": "abort", "at_us": at, "id": name, "status": request.status.name,
            "computed": request.num_computed_tokens,
            "in_flight": sum(step["scheduled"].get(name, 0) for step in self.queue),
            "output": request.num_output_tokens, "preemptions": request.num_preemptions,
        })
        self.scheduler.finish_requests(name, RequestStatus.FINISHED_ABORTED)

    def schedule(self):
        output = self.scheduler.schedule()
        self.steps += 1
        scheduled = dict(output.num_scheduled_tokens)
        total = output.total_num_scheduled_tokens
        producing = [name for name in scheduled if not self.scheduler.requests[name].is_prefill_chunk]
        cost = self.scenario["step_time"]
        lasts = cost["base_us"] + cost["per_token_us"] * total if total > 0 else 0
        ends = max(self.now, self.free_at) + lasts
        self.free_at = ends
        admitted = [{"id": new.req_id, "cached": new.num_computed_tokens} for new in output.scheduled_new_reqs]
        cached = output.scheduled_cached_reqs
        admitted += [
            {"id": name, "cached": cached.num_computed_tokens[at]}
            for at, name in enumerate(cached.req_ids) if name in cached.resumed_req_ids
        ]
        self.ops.append({
            "op": "schedule", "step": self.steps, "at_us": self.now, "scheduled": scheduled, "admitted": admitted,
            "preempted": sorted(output.preempted_req_ids or ()), "running": len(self.scheduler.running),
            "waiting": len(self.scheduler.waiting) + len(getattr(self.scheduler, "skipped_waiting", ())),
            "free_blocks": self.free(), "ends_us": ends,
        })
        self.queue.append({
            "step": self.steps, "scheduled": scheduled, "producing": producing, "ends": ends, "output": output,
        })
        return total > 0

    def update(self):
        oldest = self.queue[0]
        self.now = max(self.now, oldest["ends"])
        kept = []
        for each in self.inputs:
            if each[0] <= self.now and each[3] == "abort" and each[4]["id"] in self.scheduler.requests:
                self.abort(each[4]["id"], self.now)
            else:
                kept.append(each)
        self.inputs = kept
        self.queue.pop(0)
        names = list(oldest["scheduled"])
        sampled = []
        for name in names:
            if name in oldest["producing"]:
                self.next_token += 1
                sampled.append([self.next_token])
            else:
                sampled.append([])
        result = ModelRunnerOutput(
            req_ids=names, req_id_to_index={name: at for at, name in enumerate(names)}, sampled_token_ids=sampled
        )
        outputs = self.scheduler.update_from_output(oldest["output"], result)
        tokens, finished = {}, {}
        for each in outputs.values():
            for one in each.outputs:
                if one.new_token_ids:
                    tokens[one.request_id] = len(one.new_token_ids)
                if one.finish_reason is not None:
                    finished[one.request_id] = str(one.finish_reason)
            if each.scheduler_stats is not None and each.scheduler_stats.prefix_cache_stats is not None:
                stats = each.scheduler_stats.prefix_cache_stats
                self.queries += stats.queries
                self.hits += stats.hits
        self.ops.append({
            "op": "update", "step": oldest["step"], "at_us": self.now, "tokens": tokens, "finished": finished,
            "free_blocks": self.free(),
        })

    def free(self):
        return self.scheduler.kv_cache_manager.block_pool.get_num_free_blocks()

    def totals(self):
        return {"steps": self.steps, "prefix_cache_queries": self.queries, "prefix_cache_hits": self.hits}


def pick(chance, *choices):
    return chance.choice(choices)


def random_scenario(seed):
    """Small pools, odd sizes, equal moments: what a served engine meets rarely and a model gets wrong first."""
    chance = random.Random(seed)
    block = pick(chance, 16, 16, 16, 8, 32, 64)
    batched = pick(chance, 1, 7, 16, 33, 64, 100, 256, 512, 2048)
    longest = pick(chance, 40, 200, 600, 1500)
    most_answer = pick(chance, 1, 4, 30, 120)
    config = {
        "block_size": block,
        "num_gpu_blocks": (longest + most_answer) // block + 3 + chance.randint(0, pick(chance, 2, 30, 300)),
        "max_num_batched_tokens": batched,
        "max_num_seqs": min(batched, pick(chance, 1, 2, 3, 5, 17, 64)),
        "policy": pick(chance, "fcfs", "fcfs", "priority"),
        "enable_prefix_caching": chance.random() < 0.85,
        "max_model_len": 2048,
        "async_scheduling": chance.random() < 0.7,
    }
    count = chance.randint(3, 90)
    gap = pick(chance, 0, 500, 5_000, 40_000)
    grid = pick(chance, 1, 1, 1_000, 5_000)
    segments = chance.randint(1, 6)
    requests, aborts, at = [], [], 0
    for number in range(count):
        at += round(chance.expovariate(1) * gap) // grid * grid
        shared = chance.randint(0, longest - 1) // pick(chance, 1, block) * pick(chance, 1, block)
        shared = min(shared, longest - 1)
        own = chance.randint(1, longest - shared)
        prompt = [[chance.randint(1, segments), shared]] if shared > 0 else []
        if chance.random() < 0.8 or not prompt:
            prompt.append([1000 + (number if chance.random() < 0.8 else 0), own])
        name = f"r{number}"
        requests.append({
            "id": name, "at_us": at, "prompt": prompt, "max_tokens": chance.randint(1, most_answer),
            "priority": chance.randint(-2, 2) if config["policy"] == "priority" else 0,
        })
        if chance.random() < 0.5:
            delay = pick(chance, 0, grid, 3_000, 30_000, 300_000)
            aborts.append({"id": name, "at_us": at + round(chance.random() * delay) // grid * grid})
    return {
        "seed": seed, "config": config,
        "step_time": {"base_us": pick(chance, 0, 1_000, 5_000), "per_token_us": pick(chance, 1, 10, 100)},
        "requests": requests, "aborts": sorted(aborts, key=lambda each: each["at_us"]),
    }


def read(path):
    opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path)
    with opened:
        return [json.loads(line) for line in opened]


def replay(paths):
    wrong = 0
    for path in paths:
        for at, scenario in enumerate(read(path)):
            run = Run(scenario).play()
            pairs = list(zip(run.ops + [None] * len(scenario["ops"]), scenario["ops"]))
            differs = next((each for each in pairs if each[0] != each[1]), None)
            if differs is None and len(run.ops) == len(scenario["ops"]) and run.totals() == scenario["totals"]:
                continue
            wrong += 1
            print(f"{path} line {at + 1}: {differs or (run.totals(), scenario['totals'])}")
    print(f"{wrong} scenarios differ")
    return 1 if wrong else 0


def make(seed, count, path):
    opened = gzip.open(path, "wt") if path.endswith(".gz") else open(path, "w")
    with opened:
        for number in range(count):
            scenario = random_scenario(seed * 1_000_003 + number)
            run = Run(scenario).play()
            opened.write(json.dumps({**scenario, "ops": run.ops, "totals": run.totals()}) + "\n")
    return 0


if __name__ == "__main__":
    init_none_hash(sha256)
    if sys.argv[1:2] == ["replay"]:
        sys.exit(replay(sys.argv[2:]))
    if sys.argv[1:2] == ["make"] and len(sys.argv) == 5:
        sys.exit(make(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]))
    sys.exit(__doc__)
