/** Writes the reference page of the configuration anew; its test fails while it is stale. */

import { writeFileSync } from 'node:fs';
import { PAGE, page } from './page.js';

writeFileSync(PAGE, page());
