/**
 * Throws mutated requests at a gateway in front of an engine that fails in every way, and checks after each round that
 * the process is up, the books balance, a good request is answered, and what is held is back at its base.
 *
 *   npm run fuzz -- [--minutes N] [--seed S] [--inputs N] [--tls]
 *
 * Results go to stdout, progress to stderr. Exit code 0: every law held; 1: one did not, with the seed of its round.
 */

import { spawnSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Random } from '../../src/core/chance/random.js';
import type { GatewaySettings } from '../../src/shell/gateway/config.js';
import { type Base, backAt, baseOf } from '../support/base.js';
import { makeCertificates } from '../support/certificates.js';
import { json } from '../support/fake-engine.js';
import { type Rig, startRig } from '../support/gateway-rig.js';
import { OVER_TLS } from '../support/over-tls.js';
import { answerIn, RawClient } from '../support/raw-client.js';
import { faulty } from './faults.js';
import { input } from './inputs.js';

const OK = json({ ok: true }, 200, { connection: 'close' });
/** A client of a fuzz run waits no longer than this for anything, milliseconds. */
const PATIENCE_MS = 600;
const LANES = 64;
const PROGRESS_MS = 10_000;
const KIB = 1024;

/** Small bounds and short times, so that a round meets all of them. */
const SETTINGS: GatewaySettings = {
  requestBytes: 128 * KIB,
  readerBytes: 64 * KIB,
  inbound: {
    bodyBytes: 512 * KIB,
    tenantBytes: 256 * KIB,
    pipelined: 3,
    headerFields: 60,
    headersMs: 400,
    bodyMs: 400,
    bodyIdleMs: 200,
  },
  cors: { origins: ['https://page.example'], credentials: true },
  tls: { handshakeMs: 400 },
  upstreamTimeouts: { firstByteMs: 400, idleMs: 200 },
  control: {
    room: 6,
    deliveredAfterMs: 20,
    // With rests as long as the default, most inputs would meet an engine at rest and show nothing.
    health: { restMs: 5, longestRestMs: 50, slowStartMs: 50 },
    grace: 60,
    graceAfterFirstByteMs: 30,
    learnGrace: false,
    retainMs: 50,
    retainKeyedMs: 50,
    replayDeliveredMs: 50,
    bounds: { lineEntries: 20, lineBytes: 256 * KIB, replayBytes: 64 * KIB, listeners: 3, lineWaitMs: 300 },
  },
};

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string' },
    inputs: { type: 'string', default: '1000' },
    tls: { type: 'boolean', default: false },
  },
});
const first = Number(values.seed ?? Date.now() % 1_000_000);
const minutes = Number(values.minutes);
const perRound = Number(values.inputs);
if (values.tls && OVER_TLS === undefined) againOverTls();
if (![first, minutes, perRound].every((value) => Number.isFinite(value) && value >= 0)) {
  process.stderr.write('--minutes, --seed and --inputs take numbers, such as --minutes 10 --seed 7\n');
  process.exit(2);
}

let seed = first;
const fail = (error: unknown): never => {
  process.stdout.write(
    `a law does not hold, in the round of seed ${seed}: ${String((error as Error).stack)}\n`,
  );
  process.stdout.write(
    `again: npm run fuzz -- --minutes 0 --seed ${seed} --inputs ${perRound}${values.tls ? ' --tls' : ''}\n`,
  );
  process.exit(1);
};
process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);

/** The same run in a process whose gateway and clients speak TLS. */
function againOverTls(): never {
  const env = { ...process.env, HOLDFAST_OVER_TLS: makeCertificates() };
  const { status } = spawnSync(process.execPath, process.argv.slice(1), { env, stdio: 'inherit' });
  process.exit(status ?? 1);
}

/** The statuses that no client may be told by the gateway itself. */
const NEVER = new Set([408, 409, 529]);

/** One connection: bytes in pieces, then waiting, leaving politely, or leaving at once. */
async function connection(rig: Rig, random: Random): Promise<void> {
  const client = await RawClient.open(rig.gateway.port);
  const bytes = input(random);
  const pieces = random.uniform() < 0.7 ? 1 : random.integer(2, 5);
  for (let at = 0; at < pieces && !client.over; at += 1) {
    const size = Math.ceil(bytes.length / pieces);
    client.socket.write(bytes.subarray(at * size, (at + 1) * size));
    if (pieces > 1) await delay(random.integer(0, 60));
  }
  const manner = random.uniform();
  if (manner < 0.1) client.socket.pause();
  if (manner < 0.2) client.socket.end();
  else if (manner < 0.3) await delay(random.integer(0, 80));
  if (manner < 0.2 || manner >= 0.3) await Promise.race([ended(client), delay(PATIENCE_MS)]);
  // Node leaks a handle that is reset while its own end is on the way.
  if (random.uniform() < 0.5 && !client.socket.writableEnded) client.socket.resetAndDestroy();
  else client.socket.destroy();
  if (client.text === '') return;
  if (!/^HTTP\/1\.1 \d{3} /.test(client.text)) throw new Error(`no answer: ${client.text.slice(0, 200)}`);
  const { status } = answerIn(client.text);
  if (NEVER.has(status)) throw new Error(`a client was told ${status}`);
}

function ended(client: RawClient): Promise<void> {
  return new Promise((resolve) => {
    client.socket.once('close', () => resolve());
    client.socket.once('end', () => resolve());
    if (client.over) resolve();
  });
}

async function round(rig: Rig, base: Base): Promise<void> {
  const chance = new Random(seed, 'fuzz');
  rig.engine.script = faulty(chance.stream('engine'));
  let left = perRound;
  const lane = async (number: number): Promise<void> => {
    const random = chance.stream(`lane ${number}`);
    while (left > 0) {
      left -= 1;
      await connection(rig, random);
    }
  };
  await Promise.all(Array.from({ length: LANES }, (_, number) => lane(number)));
  rig.engine.script = OK;
  for (const kept of [rig.verdicts, rig.events, rig.engine.calls]) kept.items.length = 0;
  await backAt(base, rig.metrics);
  checkBooks(rig);
  await good(rig);
}

function checkBooks({ gateway: { ledger } }: Rig): void {
  const { attempts, entries, executions, calls, granted } = ledger;
  for (const [name, account] of Object.entries({ attempts, entries, executions, calls })) {
    const sum = Object.values<number>(account.ended).reduce((all, each) => all + each, 0);
    if (sum + account.open !== account.opened) throw new Error(`the books of ${name} do not balance`);
  }
  for (const [name, { open }] of Object.entries({ attempts, entries, executions }))
    if (open !== 0) throw new Error(`${open} ${name} have not ended`);
  const failed = Object.entries(executions.ended).filter(([ending]) => ending.startsWith('failed_'));
  const most = calls.opened + granted + failed.reduce((sum, [, count]) => sum + count, 0);
  if (executions.opened > most) throw new Error(`${executions.opened} executions, where ${most} are allowed`);
}

async function good(rig: Rig): Promise<void> {
  const body = `{"model":"good","seed":${seed}}`;
  const client = await RawClient.ask(rig.gateway.port, { headers: { connection: 'close' }, body });
  const { status } = answerIn(await client.rest());
  if (status !== 200) throw new Error(`a good request was answered with ${status}`);
}

async function main(): Promise<void> {
  process.stderr.write(`seed ${first}, ${minutes} minutes, ${perRound} inputs a round\n`);
  const rig = await startRig(OK, SETTINGS);
  await good(rig);
  await delay(500);
  const atStart = baseOf(rig.metrics);
  // Everything that is made once has been made after a round.
  await round(rig, { ...atStart, heapBytes: Number.POSITIVE_INFINITY });
  const base = { ...atStart, heapBytes: baseOf(rig.metrics).heapBytes };
  const until = Date.now() + minutes * 60_000;
  let inputs = perRound;
  let saidAt = Date.now();
  for (;;) {
    await round(rig, base);
    inputs += perRound;
    if (Date.now() >= until) break;
    seed += 1;
    if (Date.now() - saidAt < PROGRESS_MS) continue;
    saidAt = Date.now();
    process.stderr.write(`${inputs} inputs, seed ${seed}\n`);
  }
  const { attempts, executions } = rig.gateway.ledger;
  const endings = Object.entries(attempts.ended).filter(([, count]) => count > 0);
  process.stdout.write(
    `${inputs} inputs, seeds ${first} to ${seed}: every law held; ${attempts.opened} attempts, ${executions.opened} executions\n`,
  );
  for (const [ending, count] of endings) process.stdout.write(`  ${ending} ${count}\n`);
  await rig.stop();
}

await main().catch(fail);
process.exit(0);
