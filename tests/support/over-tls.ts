/** Whether the gateways of these tests speak TLS: one and the same test then holds them to the same, with and without. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Certificate } from '../../src/shell/gateway/certificate.js';
import { pairIn } from './certificates.js';

/** A folder as `makeCertificates` leaves it. */
const folder = process.env['HOLDFAST_OVER_TLS'];

export const OVER_TLS: { readonly authority: Buffer; readonly certificate: Certificate } | undefined =
  folder === undefined
    ? undefined
    : { authority: readFileSync(join(folder, 'authority.pem')), certificate: pairIn(folder, 'one') };
