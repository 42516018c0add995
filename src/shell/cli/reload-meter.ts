/** What became of changes to the configuration file, as metrics. */

import { type Family, sample, scalar } from '../../core/meter/exposition.js';

const RELOADS = 'holdfast_config_reloads_total';

export class ReloadMeter {
  readonly #wallClock: () => number;
  readonly #counts = { applied: 0, unchanged: 0, refused: 0 };
  #lastGood: number;
  #waiting = 0;

  /** Made when the first configuration is in force. `wallClock`: milliseconds since 1970. */
  constructor(wallClock: () => number) {
    this.#wallClock = wallClock;
    this.#lastGood = wallClock();
  }

  /** A file was read and is in force, but for `waiting` keys that need a restart. */
  succeeded(result: 'applied' | 'unchanged', waiting: number): void {
    this.#counts[result] += 1;
    this.#waiting = waiting;
    this.#lastGood = this.#wallClock();
  }

  refused(): void {
    this.#counts.refused += 1;
  }

  families(): Family[] {
    return [
      {
        name: RELOADS,
        type: 'counter',
        help: 'Times the configuration was read again while running, by result: applied, unchanged, or refused, which leaves what was in force.',
        samples: Object.entries(this.#counts).map(([result, count]) => sample(RELOADS, count, { result })),
      },
      scalar(
        'holdfast_config_last_success_timestamp_seconds',
        'gauge',
        'When a configuration was last read that fits, at the start or since, in seconds since the Unix epoch.',
        this.#lastGood / 1_000,
      ),
      scalar(
        'holdfast_config_keys_waiting',
        'gauge',
        'Keys whose value in the file differs from the one in force until a restart.',
        this.#waiting,
      ),
    ];
  }
}
