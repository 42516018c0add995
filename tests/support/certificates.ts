/** Certificates for tests: an authority that nobody else trusts, and pairs that it has signed. */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Certificate, certificateOf } from '../../src/shell/gateway/certificate.js';
import { gatewayConfig } from '../../src/shell/gateway/config.js';
import { requirement } from './requirement.js';

/** A folder with `authority.pem`, and `one` and `two`, each with its `.pem` and `.key`, both for `localhost`. */
export const certificates = requirement('openssl', () => makeCertificates());

/** The pair of that name, as the gateway reads it. */
export function pairIn(folder: string, name: 'one' | 'two'): Certificate {
  const files = { certFile: join(folder, `${name}.pem`), keyFile: join(folder, `${name}.key`) };
  const certificate = certificateOf(gatewayConfig({ tls: files }).tls);
  if (certificate === undefined) throw new Error(`${folder} holds no certificate ${name}`);
  return certificate;
}

export function makeCertificates(): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-tls-'));
  const at = (name: string): string => join(folder, name);
  const openssl = (...args: string[]): void => void execFileSync('openssl', args, { stdio: 'pipe' });
  const EC = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl(
    'req',
    '-x509',
    ...EC,
    '-days',
    '2',
    '-subj',
    '/CN=authority',
    '-keyout',
    at('authority.key'),
    '-out',
    at('authority.pem'),
  );
  writeFileSync(at('names'), 'subjectAltName=DNS:localhost,IP:127.0.0.1\n');
  for (const name of ['one', 'two']) {
    openssl('req', ...EC, '-subj', `/CN=${name}`, '-keyout', at(`${name}.key`), '-out', at(`${name}.csr`));
    const signed = ['-CA', at('authority.pem'), '-CAkey', at('authority.key'), '-CAcreateserial'];
    openssl(
      'x509',
      '-req',
      '-in',
      at(`${name}.csr`),
      ...signed,
      '-days',
      '1',
      '-extfile',
      at('names'),
      '-out',
      at(`${name}.pem`),
    );
  }
  return folder;
}
