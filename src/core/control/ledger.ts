/** The books: every attempt, entry, execution and call is opened once and closed once, under one name. */

import { assert } from '../assert.js';
import {
  ATTEMPT_ENDINGS,
  type AttemptEnding,
  CALL_ENDINGS,
  type CallEnding,
  ENTRY_ENDINGS,
  type EntryEnding,
  EXECUTION_ENDINGS,
  type ExecutionEnding,
} from './words.js';

/** Counts of one kind; opened = open + sum of ended. */
export class Account<Ending extends string> {
  readonly #name: string;
  readonly #ended: Record<Ending, number>;
  #opened = 0;
  #closed = 0;

  constructor(name: string, endings: readonly Ending[]) {
    this.#name = name;
    this.#ended = Object.fromEntries(endings.map((ending) => [ending, 0])) as Record<Ending, number>;
  }

  get opened(): number {
    return this.#opened;
  }

  get open(): number {
    return this.#opened - this.#closed;
  }

  get ended(): Readonly<Record<Ending, number>> {
    return this.#ended;
  }

  begin(): void {
    this.#opened += 1;
  }

  end(ending: Ending): void {
    this.#closed += 1;
    this.#ended[ending] += 1;
    assert(this.#closed <= this.#opened, `more ${this.#name} ended than began`);
  }
}

export class Ledger {
  readonly attempts = new Account<AttemptEnding>('attempts', ATTEMPT_ENDINGS);
  readonly entries = new Account<EntryEnding>('entries', ENTRY_ENDINGS);
  readonly executions = new Account<ExecutionEnding>('executions', EXECUTION_ENDINGS);
  readonly calls = new Account<CallEnding>('calls', CALL_ENDINGS);
  /** Executions granted beyond an entitlement, and refused. */
  granted = 0;
  refused = 0;
}
