/** The engine model behind vLLM's HTTP surface: what the gateway is tested against and newcomers start with. */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Engine } from '../../core/engine/engine.js';
import type { TraceSink } from '../../core/engine/trace.js';
import { Faults } from './faults.js';
import { Front } from './front.js';
import { FrontMeter } from './meter.js';
import { type TwinOptions, twinSettings } from './options.js';
import { PacedClock } from './paced-clock.js';
import { Routes } from './routes.js';
import { type TwinStats, twinStats } from './stats.js';

export type { TwinOptions } from './options.js';
export type { TwinStats } from './stats.js';

export interface Twin {
  /** `http://host:port`, without a slash at its end. */
  readonly url: string;
  readonly port: number;
  /** Ends every connection and lets go of every timer. */
  close(): Promise<void>;
  stats(): TwinStats;
}

/** vLLM's idle limit of a kept connection. */
const KEEP_ALIVE_MS = 5_000;

/** Starts a twin; throws a `RangeError` for an option out of bounds, rejects when the port is taken. */
export async function startTwin(options: TwinOptions = {}, trace?: TraceSink): Promise<Twin> {
  const settings = twinSettings(options);
  const clock = new PacedClock(settings.timeScale);
  const meter = new FrontMeter(clock, settings.engine.maxModelLen);
  const engine = new Engine({
    clock,
    cost: settings.cost,
    options: settings.engine,
    observer: meter,
    ...(trace === undefined ? {} : { trace }),
  });
  const front = new Front(engine, clock, meter, settings);
  const routes = new Routes({ settings, front, faults: new Faults(), clock, meter });
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    void routes.handle(request, response);
  });
  // A queueing engine answers late on purpose; nothing here may cut it short.
  server.requestTimeout = 0;
  server.headersTimeout = 0;
  server.timeout = 0;
  const port = await listen(server, settings.host, settings.port);
  return {
    url: `http://${settings.host}:${port}`,
    port,
    close: () => close(server, clock),
    stats: () => twinStats(engine, clock, routes.requests),
  };
}

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.removeListener('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

function close(server: Server, clock: PacedClock): Promise<void> {
  clock.close();
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
