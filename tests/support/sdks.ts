/** The official SDKs as anyone installs them: pinned, unmodified, in a folder of their own. */

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { npmInstallation, pipInstallation } from './installation.js';
import { requirement } from './requirement.js';

export const nodeSdks = requirement('the official SDKs for Node', () =>
  npmInstallation('node-sdks', ['openai@7.59.0', 'openai6@npm:openai@6.49.0', '@anthropic-ai/sdk@1.14.0']),
);

/** Answers a Python that has the SDK. */
export const pythonSdk = requirement('the official OpenAI SDK for Python', () =>
  pipInstallation('python-sdk', ['openai==2.54.0']),
);

/** The default export of a package installed in `folder`. */
export async function packageIn<Exported>(folder: string, name: string): Promise<Exported> {
  const path = createRequire(join(folder, 'package.json')).resolve(name);
  const module = (await import(pathToFileURL(path).href)) as { default: Exported & { default?: Exported } };
  return module.default.default ?? module.default;
}
