/** Where the repository lies, seen from a compiled test. */

import { fileURLToPath } from 'node:url';

/** The repository's folder, with a closing slash. */
export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
