/** Room `engine`: the engine's queue is kept short, and gauges that are old, foreign or wrong neither flood nor starve it. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type EngineLoad, GaugedRoom } from './engine-load.js';

const TARGET = 4;
const LOOK_MS = 500;

/** An engine that runs so many of what it was given and lets the rest wait; a line that never ends before it. */
class Rig {
  readonly room = new GaugedRoom();
  readonly #held: object[] = [];
  batch: number;
  now = 0;

  constructor(batch: number) {
    this.batch = batch;
  }

  get used(): number {
    return this.#held.length;
  }

  get truth(): EngineLoad {
    const running = Math.min(this.batch, this.used);
    return { running, waiting: this.used - running };
  }

  start(): void {
    const execution = {};
    this.#held.push(execution);
    this.room.took(execution, this.used, this.now);
  }

  end(count: number): void {
    for (const execution of this.#held.splice(0, count)) this.room.released(execution);
  }

  /** A look, and before it so many ends; the line gives whatever there is room for, up to `most`. */
  look(load: EngineLoad | undefined, { ends = 0, most = 5_000 } = {}): void {
    this.now += LOOK_MS;
    this.end(ends);
    this.fill(most);
    this.room.read(load, { used: this.used, showing: 0 }, TARGET, this.now);
    this.fill(most);
  }

  fill(most = 5_000): void {
    while (this.used < this.room.limit && this.used < most) this.start();
  }

  /** So many looks at a meter; the last one's truth. */
  looks(count: number, shown: (truth: EngineLoad) => EngineLoad | undefined, most = 5_000): EngineLoad {
    for (let at = 0; at < count; at += 1)
      this.look(shown(this.truth), { ends: Math.ceil(this.batch / 10), most });
    return this.truth;
  }
}

const honest = (truth: EngineLoad): EngineLoad => truth;

function full(batch = 80): Rig {
  const rig = new Rig(batch);
  rig.room.read({ running: 0, waiting: 0 }, { used: 0, showing: 0 }, TARGET, 0);
  rig.fill();
  rig.looks(60, honest);
  return rig;
}

describe('an engine whose gauges are true', () => {
  test('is filled, and has about the target waiting', () => {
    for (const batch of [3, 80, 900]) {
      const { running, waiting } = full(batch).truth;
      // A tenth ends between two looks, and the gauges are one look old.
      assert.ok(running >= 0.97 * batch, `${running} of ${batch} run`);
      assert.ok(waiting >= 0 && waiting <= 2 * TARGET, `${waiting} wait beside ${batch}`);
    }
  });

  test('is filled again when it takes more than before, and less is sent when it takes less', () => {
    const rig = full();
    rig.batch = 200;
    assert.equal(rig.looks(60, honest).running, 200);
    rig.batch = 50;
    assert.ok(rig.looks(60, honest).waiting <= 2 * TARGET);
  });

  test('may have requests of others besides: it is neither flooded nor left to them', () => {
    const rig = full();
    const { running, waiting } = rig.looks(60, ({ running: ours, waiting: queued }) => ({
      running: ours + 20,
      waiting: queued + 100,
    }));
    assert.ok(running >= 80 && waiting <= 20 + 4 * TARGET, `${running} run, ${waiting} wait`);
    assert.equal(rig.room.trust, 'trusted');
  });
});

describe('an engine that is not full', () => {
  const idle = (): Rig => {
    const rig = new Rig(100);
    rig.room.read({ running: 0, waiting: 0 }, { used: 0, showing: 0 }, TARGET, 0);
    return rig;
  };

  test('is given as many as come at once, so that nobody waits for a look', () => {
    const rig = idle();
    rig.fill(30);
    assert.equal(rig.used, 30);
    rig.look(rig.truth, { ends: 30, most: 0 });
    rig.fill(30);
    assert.equal(rig.used, 30);
  });

  test('is given as many at once as it ever ran, once nobody has waited for a while', () => {
    const rig = idle();
    rig.looks(10, honest, 90);
    assert.equal(rig.truth.running, 90);
    rig.end(90);
    for (let look = 0; look < 25; look += 1) rig.look(rig.truth, { most: 0 });
    rig.fill(90);
    assert.equal(rig.used, 90);
  });

  test('is given few at once while others have just waited, whatever it ran before', () => {
    const rig = full(100);
    rig.end(rig.used);
    rig.look(rig.truth, { most: 0 });
    rig.fill();
    assert.ok(rig.used <= 8 * TARGET, `${rig.used} at once`);
  });
});

describe('gauges that are not true', () => {
  test('since they are those of one of two engines behind one address hold nobody up until they are found out', () => {
    const rig = new Rig(80);
    rig.room.read({ running: 0, waiting: 0 }, { used: 0, showing: 0 }, TARGET, 0);
    for (let look = 0; look < 120; look += 1) {
      const most = look % 60 < 30 ? 40 : 8;
      const { running, waiting } = rig.truth;
      rig.look({ running: Math.floor(running / 2), waiting }, { ends: 4, most });
      assert.ok(rig.used >= most, `${rig.used} of ${most} at look ${look}`);
    }
  });

  test('that cannot be read leave no limit, but where it is known what fills the engine', () => {
    const fresh = new Rig(80);
    fresh.look(undefined, { most: 500 });
    assert.equal(fresh.room.trust, 'absent');
    assert.equal(fresh.room.limit, Number.POSITIVE_INFINITY);
    const rig = full();
    rig.look(undefined);
    assert.equal(rig.room.trust, 'trusted', 'one miss is no absence');
    rig.looks(2, () => undefined);
    assert.equal(rig.room.trust, 'absent');
    assert.ok(rig.room.limit >= 80 && rig.room.limit <= 200, `${rig.room.limit} of 80`);
    rig.looks(60, honest);
    assert.equal(rig.room.trust, 'trusted');
    assert.ok(rig.truth.waiting <= 2 * TARGET);
  });

  test('that stand still while the engine is full keep it full, and its queue bounded', () => {
    const rig = full();
    const seen = rig.truth;
    const { running, waiting } = rig.looks(200, () => seen);
    assert.ok(running >= 78 && waiting <= 100, `${running} run, ${waiting} wait`);
  });

  test('that stand still at a few are found out, and do not starve it', () => {
    const rig = new Rig(80);
    rig.room.read({ running: 0, waiting: 0 }, { used: 0, showing: 0 }, TARGET, 0);
    rig.looks(30, () => ({ running: 5, waiting: 0 }), 500);
    assert.equal(rig.room.trust, 'wrong');
    assert.equal(rig.truth.running, 80);
  });

  test('that show no queue when there is one do not let it grow without end', () => {
    const rig = full();
    assert.ok(rig.looks(200, ({ running }) => ({ running, waiting: 0 })).waiting <= 100);
  });

  test('that show half of everything are found out, and its queue stays bounded', () => {
    const rig = full();
    const { running, waiting } = rig.looks(200, (truth) => ({
      running: Math.floor(truth.running / 2),
      waiting: Math.floor(truth.waiting / 2),
    }));
    assert.ok(running === 80 && waiting <= 100, `${running} run, ${waiting} wait`);
  });

  test('that show a long queue when there is none do not starve it', () => {
    for (const lie of [20, 1_000, 1_000_000]) {
      const rig = full();
      const { running } = rig.looks(200, (truth) => ({ ...truth, waiting: truth.waiting + lie }));
      assert.ok(running >= 78, `${running} run where ${lie} more are said to wait`);
    }
  });
});
