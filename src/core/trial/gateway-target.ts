/** The gateway of a trial: carries the control's verdicts out against the engine, on the same virtual clock. */

import { assert } from '../assert.js';
import type { Control } from '../control/control.js';
import { Driver } from '../control/driver.js';
import type { EngineLoad } from '../control/engine-load.js';
import type { AttemptFacts } from '../control/event.js';
import type { Verdict } from '../control/verdict.js';
import type { AttemptEnding } from '../control/words.js';
import type { PlannedCall } from '../drill/plan.js';
import type { AttemptListener, AttemptRequest, Leave, Target } from '../drill/target.js';
import type { Engine } from '../engine/engine.js';
import type { Execution } from '../engine/execution.js';
import type { Prompt } from '../engine/tokens.js';
import { type Clock, RANK } from '../time/clock.js';
import type { ExecutionBook, OpenExecution } from './executions.js';
import { promptOf } from './prompts.js';

/** What the control calls the one engine of a trial. */
const ENGINE = 'engine';
/** Bytes of one streamed token, so that replay buffers have a size. */
const TOKEN_BYTES = 200;

export interface GatewayParts {
  readonly clock: Clock;
  readonly control: Control;
  readonly engine: Engine;
  readonly book: ExecutionBook;
  /** The plan's calls by index. */
  readonly planned: readonly PlannedCall[];
  /** Of tenants that have one other than 1. */
  readonly weights: Readonly<Record<string, number>>;
}

interface Sent {
  readonly listener: AttemptListener;
  /** The control's call that it listens to. */
  call: string | undefined;
}

interface Running {
  readonly execution: Execution;
  readonly record: OpenExecution;
}

export class GatewayTarget implements Target {
  /** Retries that arrived, that were attached to work or an answer of their call, and that were refused. */
  retries = 0;
  attached = 0;
  refused = 0;
  readonly #parts: GatewayParts;
  readonly #driver: Driver;
  readonly #sent = new Map<string, Sent>();
  readonly #listeners = new Map<string, Set<string>>();
  readonly #running = new Map<string, Running>();
  readonly #prompts = new Map<number, Prompt>();

  constructor(parts: GatewayParts) {
    this.#parts = parts;
    this.#driver = new Driver(parts.control, parts.clock, (verdict) => this.#carry(verdict));
  }

  /** What the engine says of its load goes to the control. */
  gauges(load: EngineLoad | undefined): void {
    this.#driver.send({ kind: 'gauges', engine: ENGINE, load });
  }

  send(request: AttemptRequest, listener: AttemptListener): Leave {
    const attempt = attemptName(request);
    if (request.ordinal > 0) this.retries += 1;
    this.#sent.set(attempt, { listener, call: undefined });
    this.#driver.send({ kind: 'arrive', attempt, facts: this.#factsOf(request) });
    return () => this.#driver.send({ kind: 'leave', attempt });
  }

  #factsOf(request: AttemptRequest): AttemptFacts {
    const facts = factsOf(request);
    return { ...facts, weight: this.#parts.weights[facts.tenant] };
  }

  #carry(verdict: Verdict): void {
    switch (verdict.kind) {
      case 'start':
        return this.#start(verdict);
      case 'attach':
        return this.#attach(verdict);
      case 'cancel':
        return this.#cancel(verdict.execution);
      case 'refuse':
        return this.#refuse(verdict);
      case 'end':
        return this.#end(verdict.attempt, verdict.ending);
      case 'attempt-ended':
        return this.#forget(verdict.attempt);
      case 'decided':
      case 'queue':
      case 'drop':
      case 'seal':
      case 'forget':
      case 'execution-ended':
      case 'call-ended':
      case 'wasted':
      case 'return':
      case 'rest':
      case 'back':
      case 'warn':
        return;
    }
  }

  #start({ execution: id, call, attempt }: Extract<Verdict, { kind: 'start' }>): void {
    const { engine, book, planned } = this.#parts;
    const [index, ordinal] = parseAttempt(attempt);
    const asked = planned[index];
    assert(asked !== undefined, `attempt ${attempt} belongs to no planned call`);
    const record = book.open({ id, promptTokens: asked.promptTokens }, index, ordinal);
    if (engine.refusal(1) !== undefined) {
      book.close(record, 'refused');
      this.#driver.send({ kind: 'fail', execution: id, failure: 'unavailable', status: 503 });
      return;
    }
    const { responseTokens: maxTokens, client } = asked;
    const execution = engine.add(
      { id, prompt: this.#prompt(asked), maxTokens, priority: client.priority },
      (answered, ended) => {
        if (answered.outputTokens === 1) this.#firstToken(id, call, record);
        if (ended !== undefined) this.#finished(id, call, record, answered);
      },
    );
    this.#running.set(id, { execution, record });
  }

  /** One prompt a call: its retries bring the same tokens, and the hashes of its blocks are computed once. */
  #prompt(call: PlannedCall): Prompt {
    const known = this.#prompts.get(call.index);
    if (known !== undefined) return known;
    const fresh = promptOf(call);
    this.#prompts.set(call.index, fresh);
    return fresh;
  }

  #firstToken(id: string, call: string, record: OpenExecution): void {
    record.firstTokenMs = this.#parts.clock.now();
    this.#driver.send({ kind: 'first-byte', execution: id });
    for (const attempt of this.#listeners.get(call) ?? []) this.#sent.get(attempt)?.listener.bytes();
  }

  #finished(id: string, call: string, record: OpenExecution, execution: Execution): void {
    this.#running.delete(id);
    this.#parts.book.close(record, 'finished', execution);
    this.#driver.send({ kind: 'chunk', execution: id, bytes: execution.outputTokens * TOKEN_BYTES });
    this.#driver.send({ kind: 'finish', execution: id });
    for (const attempt of this.#listeners.get(call) ?? []) this.#answer(attempt);
  }

  #answer(attempt: string): void {
    this.#sent.get(attempt)?.listener.answered();
    this.#driver.send({ kind: 'handed', attempt });
  }

  #attach({ attempt, call, outcome, ordinal }: Extract<Verdict, { kind: 'attach' }>): void {
    const sent = this.#sent.get(attempt);
    if (sent === undefined) return;
    sent.call = call;
    const listeners = this.#listeners.get(call) ?? new Set();
    this.#listeners.set(call, listeners.add(attempt));
    if (ordinal > 0 && outcome !== 'started') this.attached += 1;
    if (outcome === 'replayed') this.#parts.clock.after(0, () => this.#answer(attempt), RANK.answer);
  }

  #cancel(id: string): void {
    const running = this.#running.get(id);
    if (running === undefined) return;
    this.#running.delete(id);
    this.#parts.engine.abort(running.execution);
  }

  #refuse({ attempt, reason, retryAfterMs, mayRetry }: Extract<Verdict, { kind: 'refuse' }>): void {
    if (parseAttempt(attempt)[1] > 0) this.refused += 1;
    this.#sent.get(attempt)?.listener.refused(reason === 'gave_up' ? 504 : 429, retryAfterMs, mayRetry);
  }

  #end(attempt: string, ending: AttemptEnding): void {
    const listener = this.#sent.get(attempt)?.listener;
    if (ending === 'upstream_unavailable') listener?.refused(503);
    else listener?.broken();
  }

  #forget(attempt: string): void {
    const call = this.#sent.get(attempt)?.call;
    this.#sent.delete(attempt);
    if (call === undefined) return;
    const listeners = this.#listeners.get(call);
    listeners?.delete(attempt);
    if (listeners?.size === 0) this.#listeners.delete(call);
  }
}

function attemptName({ call, ordinal }: AttemptRequest): string {
  return `${call.index}.${ordinal}`;
}

function parseAttempt(name: string): readonly [index: number, ordinal: number] {
  const dot = name.indexOf('.');
  return [Number(name.slice(0, dot)), Number(name.slice(dot + 1))];
}

/** What the client's request says of itself; equal for all attempts of a call but for the retry count. */
function factsOf({ call, ordinal }: AttemptRequest): AttemptFacts {
  const { client, index } = call;
  const deadlineMs = client.deadlineSeconds * 1_000;
  return {
    tenant: client.tenant,
    route: '/v1/completions',
    fingerprint: String(index),
    model: 'model',
    stream: client.stream,
    bodyBytes: 6 * call.promptTokens,
    key: client.key ? `call-${index}` : undefined,
    retryCount: client.counts ? ordinal : undefined,
    class: client.class,
    userAgent: client.userAgent,
    address: client.name,
    shareable: true,
    stateful: false,
    noStore: false,
    cancelOnLeave: false,
    announcedDeadlineMs: client.announces ? deadlineMs : undefined,
  };
}
