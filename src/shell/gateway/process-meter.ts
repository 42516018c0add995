/** What the process itself costs, under the names that every Prometheus client uses. */

import { monitorEventLoopDelay } from 'node:perf_hooks';
import { type Family, scalar } from '../../core/meter/exposition.js';

const RESOLUTION_MS = 10;
const NANOSECONDS = 1e9;

export class ProcessMeter {
  readonly #delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

  constructor() {
    this.#delay.enable();
  }

  /** Longest delay of the event loop since the last call, in seconds; 0 when nothing was measured. */
  #lagSeconds(): number {
    // The monitor reports the whole gap between two ticks, its own interval included.
    const gap = this.#delay.max / NANOSECONDS - RESOLUTION_MS / 1000;
    const measured = this.#delay.count > 0;
    this.#delay.reset();
    return measured ? Math.max(0, gap) : 0;
  }

  families(): Family[] {
    const cpu = process.cpuUsage();
    return [
      scalar(
        'process_resident_memory_bytes',
        'gauge',
        'Resident memory of the gateway, in bytes.',
        process.memoryUsage.rss(),
      ),
      scalar(
        'process_cpu_seconds_total',
        'counter',
        'User and system CPU time spent, in seconds.',
        (cpu.user + cpu.system) / 1e6,
      ),
      scalar(
        'process_start_time_seconds',
        'gauge',
        'When the process started, in seconds since the Unix epoch.',
        Date.now() / 1000 - process.uptime(),
      ),
      scalar(
        'holdfast_event_loop_lag_seconds',
        'gauge',
        'Longest delay of the event loop since the last scrape, in seconds; above 0.2 the gateway itself is slow.',
        this.#lagSeconds(),
      ),
    ];
  }

  close(): void {
    this.#delay.disable();
  }
}
