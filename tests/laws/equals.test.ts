/** The promises of the control over many seeds of a living world: clients that come back, an engine that stumbles. */

import { deepEqual, ok } from 'node:assert/strict';
import { after, test } from 'node:test';
import { Random } from '../../src/core/chance/random.js';
import { type ControlSettings, controlOptions } from '../../src/core/control/options.js';
import type { Verdict } from '../../src/core/control/verdict.js';
import { forEachSeed } from '../support/seeds.js';
import { control } from '../support/subject.js';
import { Laws } from './laws.js';
import { Witness } from './moment.js';
import { KINDS, type Tally, type Traffic, World } from './world.js';

/** Bounds so small that each of them is met. */
const TIGHT: ControlSettings['bounds'] = {
  lineEntries: 12,
  lineBytes: 100,
  lineWaitMs: 20_000,
  replayBytes: 300,
  liveReplayBytes: 400,
  retainedBytes: 500,
  // Small enough to be met by nothing here: what is forgotten at that bound can no longer be recognised.
  calls: 1_000,
  listeners: 4,
};

const PULSE: Traffic = {
  kinds: KINDS,
  tenants: ['one', 'two'],
  stages: [
    { seconds: 10, rate: 3 },
    { seconds: 10, rate: 14 },
    { seconds: 20, rate: 3 },
  ],
  equals: 0.2,
  failing: 0.05,
  slow: 0.05,
  large: 0.1,
  places: 4,
  serviceMs: 800,
};

/** Settings that people run, and those of the published experiment. */
const SETTINGS: Readonly<Record<string, ControlSettings>> = {
  'the defaults': {},
  'room and a line, by deadline': { room: 4 },
  'room and a line, oldest first': { room: 4, order: 'oldest-first' },
  'room and a line, newest first': { room: 4, order: 'newest-first' },
  'tight bounds': { room: 4, order: 'newest-first', bounds: TIGHT },
  'cancelled at once': { room: 4, grace: 'now' },
  'never cancelled, budget strict': { room: 4, grace: 'never', budget: { mode: 'strict' } },
  'a short grace': { grace: 2_000, retainMs: 1_000, bounds: TIGHT },
  'concurrent equals share': { room: 4, coalesce: 'identical' },
  'nothing attached': { coalesce: 'off', grace: 'now', budget: { mode: 'strict' } },
};

const SEEDS = 12;
const total = { runs: 0, calls: 0, attempts: 0, events: 0, delivered: 0 };

function count({ calls, attempts, events, delivered }: Tally): void {
  total.runs += 1;
  total.calls += calls;
  total.attempts += attempts;
  total.events += events;
  total.delivered += delivered;
}

after(() => {
  const { runs, calls, attempts, events, delivered } = total;
  process.stdout.write(
    `# laws: ${runs} worlds, ${calls} calls, ${attempts} attempts, ${events} events, ${delivered} delivered\n`,
  );
});

for (const [name, settings] of Object.entries(SETTINGS)) {
  test(`no law is broken in any world: ${name}`, () => {
    forEachSeed(SEEDS, (seed) => {
      const laws = new Laws({
        options: controlOptions(settings),
        trueCall: (attempt) => World.trueCall(attempt),
      });
      const world = new World(
        PULSE,
        new Random(seed),
        new Witness(control(settings), (moment) => laws.see(moment)),
      );
      world.run();
      laws.finish();
      laws.check();
      ok(world.tally.delivered > 0, 'the world delivers something');
      count(world.tally);
    });
  });
}

test('one seed gives one stream of verdicts', () => {
  const play = (): readonly Verdict[] => {
    const said: Verdict[] = [];
    const subject = new Witness(control({ room: 4 }), ({ verdicts }) => said.push(...verdicts));
    new World(PULSE, new Random(7), subject).run();
    return said;
  };
  deepEqual(play(), play());
});
