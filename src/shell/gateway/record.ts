/** Writes one log line an attempt and one an execution, from what the control hears and says. */

import { unreachable } from '../../core/assert.js';
import type { AttemptFacts, ControlEvent } from '../../core/control/event.js';
import { type Family, familyOf } from '../../core/control/family.js';
import type { Standing, Verdict } from '../../core/control/verdict.js';
import { errorText, type Log, type LogFields } from '../shared/log.js';
import type { GaugeWord, Observer } from './observer.js';
import type { Pseudonym } from './pseudonym.js';

/** What a line says of the request. */
interface Asked {
  readonly tenant: string;
  readonly route: string;
  readonly family: Family;
  readonly model: string;
  readonly stream: boolean;
}

interface OpenAttempt {
  /** Absent where the request could not be read. */
  readonly asked: Asked | undefined;
  call: string | undefined;
  decided: Extract<Verdict, { kind: 'decided' }> | undefined;
  queueMs: number | undefined;
  status: number | undefined;
  retryAfterMs: number | undefined;
}

interface LiveExecution {
  readonly asked: Asked | undefined;
  readonly startedAt: number;
  readonly waitedMs: number;
  readonly standing: Standing | undefined;
  firstByteMs: number | undefined;
  upstream: string | undefined;
}

/** Holds one small record an open attempt and one a live execution, and nothing of their bodies. */
export class Recorder implements Observer {
  readonly #log: Log;
  readonly #pseudonym: Pseudonym;
  readonly #attempts = new Map<string, OpenAttempt>();
  readonly #executions = new Map<string, LiveExecution>();
  /** Attempts that wait with their call for its next execution. */
  readonly #waiting = new Map<string, Set<string>>();

  constructor(log: Log, pseudonym: Pseudonym) {
    this.#log = log;
    this.#pseudonym = pseudonym;
  }

  event(event: ControlEvent, now: number): void {
    if (event.kind === 'arrive') {
      this.#attempts.set(event.attempt, opened(this.#asked(event.facts)));
    } else if (event.kind === 'reject') {
      this.#attempts.set(event.attempt, opened(undefined));
    } else if (event.kind === 'first-byte') {
      const execution = this.#executions.get(event.execution);
      if (execution !== undefined) execution.firstByteMs ??= now - execution.startedAt;
    }
  }

  answered(attempt: string, status: number): void {
    const open = this.#attempts.get(attempt);
    if (open !== undefined) open.status = status;
  }

  reached(execution: string, url: string): void {
    const live = this.#executions.get(execution);
    if (live !== undefined) live.upstream = url;
    this.#log.debug('execution sent', { execution, upstream: url });
  }

  unreachable(url: string, error: unknown): void {
    this.#log.warn('an engine cannot be reached', {
      upstream: url,
      error: errorText(error),
    });
  }

  gauges(engine: string, word: GaugeWord): void {
    switch (word.kind) {
      case 'found':
        return this.#log.info('the room of an engine follows its gauges', { engine });
      case 'none':
        return this.#log.info('an engine has no gauges, and no limit', { engine, error: word.why });
      case 'missed':
        return this.#log.warn('the gauges of an engine cannot be read', { engine, error: word.why });
      default:
        return unreachable(word);
    }
  }

  passedThrough(): void {
    // Passed through means that it is no attempt, so it has no line here.
  }

  verdict(verdict: Verdict, now: number): void {
    switch (verdict.kind) {
      case 'decided':
        return this.#decided(verdict);
      case 'start':
        return this.#started(verdict, now);
      case 'attach':
        return this.#attached(verdict);
      case 'refuse': {
        const open = this.#attempts.get(verdict.attempt);
        if (open !== undefined) open.retryAfterMs = verdict.retryAfterMs;
        return;
      }
      case 'attempt-ended':
        return this.#attemptEnded(verdict);
      case 'execution-ended':
        return this.#executionEnded(verdict);
      case 'call-ended':
        return this.#callEnded(verdict);
      case 'wasted':
        return this.#log.debug('execution wasted', {
          execution: verdict.execution,
          tenant: this.#pseudonym(verdict.tenant),
          bytes: verdict.bytes,
          ...usageFields(verdict.usage),
        });
      case 'warn':
        return this.#warned(verdict);
      case 'return':
        return this.#returned(verdict);
      case 'rest':
        return this.#log.warn('an engine is let be for a while', {
          engine: verdict.engine,
          failure: verdict.failure,
          rest_ms: rounded(verdict.restMs),
        });
      case 'back':
        return this.#log.info('an engine works again', { engine: verdict.engine });
      case 'queue':
      case 'drop':
      case 'end':
      case 'cancel':
      case 'seal':
      case 'forget':
        return;
    }
  }

  #asked(facts: AttemptFacts): Asked {
    return {
      tenant: this.#pseudonym(facts.tenant),
      route: facts.route,
      family: familyOf(facts.userAgent),
      model: facts.model,
      stream: facts.stream,
    };
  }

  #decided(verdict: Extract<Verdict, { kind: 'decided' }>): void {
    const { attempt, call, decision, evidence, candidates } = verdict;
    const open = this.#attempts.get(attempt);
    if (open !== undefined) open.decided = verdict;
    this.#log.debug('attempt recognised', { attempt, call, decision, evidence, candidates });
  }

  #started(verdict: Extract<Verdict, { kind: 'start' }>, now: number): void {
    const { call, execution, attempt, waitedMs, standing } = verdict;
    const asked = this.#attempts.get(attempt)?.asked;
    this.#executions.set(execution, {
      asked,
      startedAt: now,
      waitedMs,
      standing,
      firstByteMs: undefined,
      upstream: undefined,
    });
    for (const each of this.#waiting.get(call) ?? []) {
      const open = this.#attempts.get(each);
      if (open !== undefined) open.queueMs = waitedMs;
    }
    this.#waiting.delete(call);
  }

  #attached(verdict: Extract<Verdict, { kind: 'attach' }>): void {
    const open = this.#attempts.get(verdict.attempt);
    if (open === undefined) return;
    this.#stopWaiting(verdict.attempt, open);
    open.call = verdict.call;
    if (verdict.execution === undefined) {
      const waiting = this.#waiting.get(verdict.call) ?? new Set();
      this.#waiting.set(verdict.call, waiting.add(verdict.attempt));
      return;
    }
    const waitedMs = this.#executions.get(verdict.execution)?.waitedMs;
    if (waitedMs !== undefined) open.queueMs = waitedMs;
  }

  #warned({ warning, attempt, engine }: Extract<Verdict, { kind: 'warn' }>): void {
    // Whoever sends a wrong word sends it with every request: the counter has them all.
    if (warning === 'unknown_class') return this.#log.debug('there is no such class', { warning, attempt });
    if (engine === undefined)
      return this.#log.warn('something between client and gateway looks wrong', { warning, attempt });
    this.#log.warn('the gauges of an engine are of no use to its room', { warning, engine });
  }

  #returned({ call, execution }: Extract<Verdict, { kind: 'return' }>): void {
    const waiting = new Set<string>();
    for (const [attempt, open] of this.#attempts) if (open.call === call) waiting.add(attempt);
    if (waiting.size > 0) this.#waiting.set(call, waiting);
    this.#log.debug('execution sent back', { call, execution });
  }

  #stopWaiting(attempt: string, open: OpenAttempt): void {
    if (open.call === undefined) return;
    const waiting = this.#waiting.get(open.call);
    waiting?.delete(attempt);
    if (waiting?.size === 0) this.#waiting.delete(open.call);
  }

  #attemptEnded(verdict: Extract<Verdict, { kind: 'attempt-ended' }>): void {
    const { attempt, call, execution, ordinal, outcome, ending, ageMs, tenant } = verdict;
    const open = this.#attempts.get(attempt);
    const asked = open?.asked;
    const decided = open?.decided;
    this.#log.info('attempt ended', {
      call,
      execution,
      attempt,
      tenant: tenant === undefined ? asked?.tenant : this.#pseudonym(tenant),
      ordinal,
      decision: decided?.decision,
      evidence: decided?.evidence,
      candidates: decided?.candidates,
      outcome,
      ending,
      route: asked?.route,
      family: asked?.family,
      model: asked?.model,
      stream: asked?.stream,
      status: open?.status,
      age_ms: rounded(ageMs),
      queue_ms: rounded(open?.queueMs),
      retry_after_ms: rounded(open?.retryAfterMs),
    });
    if (open !== undefined) this.#stopWaiting(attempt, open);
    this.#attempts.delete(attempt);
  }

  #executionEnded(verdict: Extract<Verdict, { kind: 'execution-ended' }>): void {
    const { call, execution, tenant, ending, ageMs, bytes, status, usage } = verdict;
    const live = this.#executions.get(execution);
    const asked = live?.asked;
    this.#log.info('execution ended', {
      call,
      execution,
      tenant: this.#pseudonym(tenant),
      ending,
      route: asked?.route,
      family: asked?.family,
      model: asked?.model,
      stream: asked?.stream,
      status,
      age_ms: rounded(ageMs),
      queue_ms: rounded(live?.waitedMs),
      first_byte_ms: rounded(live?.firstByteMs),
      ...standingFields(live?.standing),
      bytes,
      prompt_tokens: usage?.promptTokens,
      cached_prompt_tokens: usage?.cachedPromptTokens,
      completion_tokens: usage?.completionTokens,
      upstream: live?.upstream,
    });
    this.#executions.delete(execution);
  }

  #callEnded(verdict: Extract<Verdict, { kind: 'call-ended' }>): void {
    const { call, tenant, ending, attempts, executions } = verdict;
    this.#log.debug('call ended', {
      call,
      tenant: this.#pseudonym(tenant),
      ending,
      attempts,
      executions,
    });
  }
}

function opened(asked: Asked | undefined): OpenAttempt {
  return {
    asked,
    call: undefined,
    decided: undefined,
    queueMs: undefined,
    status: undefined,
    retryAfterMs: undefined,
  };
}

type Reported = Extract<Verdict, { kind: 'execution-ended' }>['usage'];

function usageFields(usage: Reported): LogFields {
  if (usage === undefined) return {};
  return {
    prompt_tokens: usage.promptTokens,
    cached_prompt_tokens: usage.cachedPromptTokens,
    completion_tokens: usage.completionTokens,
  };
}

function standingFields(standing: Standing | undefined): LogFields {
  if (standing === undefined) return {};
  return {
    tier: standing.tier,
    class: standing.class,
    basis: standing.basis,
    deadline_in_ms: rounded(standing.deadlineInMs),
    give_up_in_ms: rounded(standing.giveUpInMs),
  };
}

/** To a tenth of a millisecond: more is noise. */
function rounded(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.round(ms * 10) / 10;
}
