/** The options in force as people and programs read them: each with its value and where it came from, secrets hidden. */

import { Document, isScalar, isSeq } from 'yaml';
import { fileView, SETTINGS } from '../gateway/config.js';
import type { Origin } from '../shared/settings/reading.js';
import { originText } from '../shared/settings/resolve.js';
import { leavesOf, valueAt } from '../shared/settings/table.js';
import type { Configuration } from './configuration.js';

const DEFAULT: Origin = { from: 'default' };

/** A file that could be read back, with each value's origin behind it. */
export function shownAsYaml({ config, origins }: Configuration): string {
  const document = new Document(fileView(config), { aliasDuplicateObjects: false });
  for (const { key, keys } of leavesOf(SETTINGS)) {
    const node: unknown = document.getIn(keys, true);
    const comment = ` ${originText(origins.get(key) ?? DEFAULT)}`;
    if (isSeq(node)) node.flow = true;
    if (isSeq(node) || isScalar(node)) node.comment = comment;
  }
  return document.toString({ lineWidth: 0, flowCollectionPadding: true });
}

/** The same as one JSON object: a list of options. */
export function shownAsJson({ config, origins }: Configuration): string {
  const view = fileView(config);
  const options = leavesOf(SETTINGS).map(({ key, keys, setting }) => ({
    key,
    value: valueAt(view, keys) ?? null,
    changes: setting.changes,
    origin: origins.get(key) ?? DEFAULT,
  }));
  return `${JSON.stringify({ options }, undefined, 2)}\n`;
}
