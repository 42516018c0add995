/** A changed configuration is taken over as far as it may be; one that does not fit changes nothing and is said. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { writeExposition } from '../../core/meter/exposition.js';
import type { GatewayConfig } from '../gateway/config.js';
import type { Log, Say } from '../shared/log.js';
import { layered } from './configuration.js';
import { Reload } from './reload.js';
import { ReloadMeter } from './reload-meter.js';

interface Line {
  readonly level: string;
  readonly message: string;
  readonly keys?: readonly string[] | undefined;
}

function scene(text: string, env: Readonly<Record<string, string>> = {}) {
  const path = join(mkdtempSync(join(tmpdir(), 'holdfast-reload-')), 'holdfast.yaml');
  writeFileSync(path, text);
  const lines: Line[] = [];
  const say =
    (level: string): Say =>
    (message, fields) =>
      lines.push({ level, message, ...(fields?.keys === undefined ? {} : { keys: fields.keys }) });
  const log: Log = {
    debug: say('debug'),
    info: say('info'),
    warn: say('warn'),
    error: say('error'),
    fatal: say('fatal'),
  };
  const applied: GatewayConfig[] = [];
  let now = 1_000;
  const meter = new ReloadMeter(() => now);
  const file = { path, text };
  const reload = new Reload(
    { ...layered({}, env, file), file },
    { given: {}, env, log, meter, apply: (config) => applied.push(config) },
  );
  return {
    path,
    lines,
    applied,
    reload,
    write: (next: string) => {
      now += 1_000;
      writeFileSync(path, next);
    },
    meter: () =>
      writeExposition(meter.families())
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('#'))
        .map((line) => line.replace('holdfast_config_', '').replace(/\.0$/, '')),
  };
}

test('what may change while running is taken over, and what may not is named', () => {
  const { reload, write, applied, lines, meter } = scene('port: 1\ncontrol: { room: 4, grace: 60s }\n');
  write(
    'port: 2\ncontrol: { room: 8, grace: 60s, order: newest-first, budget: { ratio: 0.2 } }\nlog: { level: debug }\n',
  );
  reload.changed();
  assert.equal(applied.length, 1);
  const [{ port, control, log } = {} as GatewayConfig] = applied;
  assert.deepEqual(
    [port, control.room, control.order, control.budget.ratio, log.level],
    [1, 8, 'deadline', 0.2, 'debug'],
  );
  assert.deepEqual(lines, [
    {
      level: 'info',
      message: 'the configuration has changed and is in force',
      keys: ['control.room', 'control.budget.ratio', 'log.level'],
    },
    {
      level: 'warn',
      message: 'the file has other values for port, control.order: they wait for a restart',
      keys: ['port', 'control.order'],
    },
  ]);
  assert.deepEqual(meter(), [
    'reloads_total{result="applied"} 1',
    'reloads_total{result="unchanged"} 0',
    'reloads_total{result="refused"} 0',
    'last_success_timestamp_seconds 2',
    'keys_waiting 2',
  ]);
});

test('a file that does not fit leaves everything as it was, every complaint is said, and the next one counts', () => {
  const { reload, write, applied, lines, meter, path } = scene('control: { room: 4 }\n');
  write('control:\n  room: 0\n  graze: 1s\n');
  reload.changed();
  assert.equal(applied.length, 0);
  assert.deepEqual(
    lines.map(({ level, message }) => `${level} ${message}`),
    [
      `error the configuration was not taken over, what was in force stays: ${path} does not fit:`,
      'error line 2: control.room must be auto, off, first-token, engine or a whole number from 1 to 1000000, not 0',
      'error line 3: control.graze is not a setting; did you mean grace?',
    ],
  );
  assert(meter().includes('reloads_total{result="refused"} 1'));
  assert(meter().includes('last_success_timestamp_seconds 1'));
  write('control: { room: 5 }\n');
  reload.changed();
  assert.equal(applied[0]?.control.room, 5);
});

test('a file that is broken, empty or gone is refused, and back as it was it is fine', () => {
  const { reload, write, applied, lines, meter, path } = scene('control: { room: 4 }\n');
  for (const text of ['{', '', ' \n']) {
    write(text);
    reload.changed();
  }
  rmSync(path);
  reload.changed();
  assert.equal(applied.length, 0);
  assert.match(
    lines.map(({ message }) => message).join('\n'),
    /is empty, as a file is that is being written; \{\} stands for the defaults/,
  );
  assert.match(lines.at(-1)?.message ?? '', /cannot read the configuration/);
  assert(meter().includes('reloads_total{result="refused"} 4'));
  write('control: { room: 4 }\n');
  reload.changed();
  assert(meter().includes('reloads_total{result="unchanged"} 1'));
  assert.equal(applied.length, 0);
});

test('a change of nothing but the date is no change, unless somebody asks', () => {
  const { reload, write, lines, meter } = scene('control: { room: 4 }\n');
  write('control: { room: 4 }\n');
  reload.changed();
  assert.equal(lines.length, 0);
  reload.asked();
  assert.match(lines[0]?.message ?? '', /read again; nothing that may change while running has changed/);
  assert(meter().includes('reloads_total{result="unchanged"} 1'));
});

test('flags and variables keep winning over the file', () => {
  const { reload, write, applied } = scene('control: { room: 4 }\n', { HOLDFAST_CONTROL_ROOM: '9' });
  write('control: { room: 5, grace: 5s }\n');
  reload.changed();
  assert.deepEqual([applied[0]?.control.room, applied[0]?.control.grace], [9, 5_000]);
});

test('settings that defeat each other from now on are warned about, those that already did are not again', () => {
  const { reload, write, lines } = scene('anonymous: shared\n');
  write('anonymous: shared\ncontrol: { grace: now }\n');
  reload.changed();
  const warned = lines.filter(({ level }) => level === 'warn').map(({ message }) => message);
  assert.equal(warned.length, 1);
  assert.match(warned[0] ?? '', /^control\.grace cancels at once/);
});
