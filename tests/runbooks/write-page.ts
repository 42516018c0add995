/** Writes the reference page of the meter anew; its test fails while it is stale. */

import { writeFileSync } from 'node:fs';
import { exposed, PAGE, page } from './page.js';

writeFileSync(PAGE, page(await exposed()));
