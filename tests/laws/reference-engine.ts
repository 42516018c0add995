/** The reference model's engine side: what executions answer, and the bounds of what is kept of it. */

import type { ControlEvent } from '../../src/core/control/event.js';
import { ReferenceLine } from './reference-line.js';
import { type Call, type Execution, listeners, replayable } from './reference-words.js';

const keptSince = (call: Call): number =>
  call.deliveredAt ?? Math.max(call.orphanedAt ?? 0, call.execution?.finishedAt ?? 0);

/** Of two kept answers: what was delivered goes before what is still owed, the oldest first. */
export const worthLess = (a: Call, b: Call): number =>
  Number(a.deliveredAt === undefined) - Number(b.deliveredAt === undefined) || keptSince(a) - keptSince(b);

export class ReferenceEngine extends ReferenceLine {
  protected engine(event: Extract<ControlEvent, { execution: string }>): void {
    const call = this.calls.find((one) => one.state === 'running' && one.execution?.id === event.execution);
    if (call?.execution === undefined) return;
    const { execution } = call;
    if (event.kind === 'first-byte') {
      execution.firstByte = true;
      execution.stream ||= event.stream === true;
      execution.streamed ||= execution.stream && listeners(call).length > 0;
      this.verified.add(call.facts.tenant);
      this.lineChanged();
      this.fleet.shows(this.fleet.of(execution.engine), execution.id, this.now);
    } else if (event.kind === 'chunk') {
      execution.bytes += event.bytes;
      if (!execution.sealed && execution.bytes > this.options.bounds.replayBytes) this.seal(call);
    } else if (event.kind === 'finish') {
      execution.finishedAt = this.now;
      this.fleet.shows(this.fleet.of(execution.engine), execution.id, this.now);
      this.fleet.of(execution.engine).broken = 0;
      execution.usage = event.usage;
      call.state = 'answered';
      this.endExecution(call, 'finished', undefined, event.usage);
    } else this.fail(call, event);
  }

  protected fail(call: Call, event: Extract<ControlEvent, { kind: 'fail' }>): void {
    const attached = listeners(call);
    const execution = call.execution as Execution;
    execution.usage = event.usage;
    const untouched = event.repeatable !== false && !execution.firstByte && execution.bytes === 0;
    const refused = event.failure === 'refused';
    const waits = event.failure === 'unavailable' && this.options.unavailable === 'wait';
    if (untouched && refused) call.refusedBy.push(execution.engine);
    this.endExecution(call, `failed_${event.failure}`, event.status, event.usage);
    this.fleet.fails(this.fleet.of(execution.engine), event, this.now);
    if (untouched && (refused || waits) && this.returned(call, execution)) {
      call.entitlement += 1;
      call.execution = undefined;
      call.state = 'waiting';
      call.entry = { queuedAt: this.now, attempt: execution.attempt, heldUntil: 0 };
      this.lineChanged();
      this.say({ kind: 'return', call: call.id, execution: execution.id, attempt: execution.attempt.id });
      return;
    }
    for (const attempt of attached) this.end(attempt, `upstream_${event.failure}`);
    call.entitlement += 1;
    call.lastWord = 'failed';
    this.toIdle(call);
    const wrong = event.failure === 'status_4xx' && ![408, 409, 425, 429].includes(event.status ?? 0);
    const lasting = wrong || event.failure === 'status_3xx';
    if (lasting) this.endCall(call, 'failed');
  }

  protected seal(call: Call): void {
    const execution = call.execution as Execution;
    execution.sealed = true;
    this.say({ kind: 'seal', execution: execution.id });
    if (listeners(call).length === 0) this.cancel(call);
  }

  protected boundLive(): void {
    const { liveReplayBytes } = this.options.bounds;
    for (;;) {
      const live = this.calls.filter(
        (one) => (one.state === 'running' || listeners(one).length > 0) && replayable(one),
      );
      const bytes = (one: Call): number => one.execution?.bytes ?? 0;
      if (live.reduce((sum, one) => sum + bytes(one), 0) <= liveReplayBytes) return;
      const newest = live
        .filter((one) => bytes(one) > 0)
        .toSorted((a, b) => (b.execution?.order ?? 0) - (a.execution?.order ?? 0))[0];
      this.seal(newest as Call);
    }
  }

  protected boundRetained(): void {
    const { retainedBytes, retainedTenantShare } = this.options.bounds;
    for (const tenant of [...new Set(this.calls.map((call) => call.facts.tenant)), undefined]) {
      for (;;) {
        const kept = this.calls
          .filter((one) => one.state === 'answered' && listeners(one).length === 0 && replayable(one))
          .filter((one) => tenant === undefined || one.facts.tenant === tenant)
          .toSorted(worthLess);
        const most = tenant === undefined ? retainedBytes : retainedBytes * retainedTenantShare;
        if (kept.reduce((sum, one) => sum + (one.execution?.bytes ?? 0), 0) <= most) break;
        this.forget(kept[0] as Call);
      }
    }
  }
}
