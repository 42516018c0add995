/** The certificate that clients see: read from its two files, and tried as a pair before anybody meets it. */

import { createHash, createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { UserError } from '../shared/errors.js';
import { errorText } from '../shared/log.js';
import { readWithin } from '../shared/text-file.js';
import type { TlsSettings } from './config-tls.js';

/** A file larger than this is no certificate and no key. */
const MOST_BYTES = 1024 * 1024;

export interface Certificate {
  readonly cert: Buffer;
  readonly key: Buffer;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  /** Tells one pair from another; it says nothing of the key. */
  readonly mark: string;
}

/** The pair that the settings name, if they name one; a {@link UserError} says what is wrong with it. */
export function certificateOf({ certFile, keyFile }: TlsSettings): Certificate | undefined {
  if (certFile === undefined && keyFile === undefined) return undefined;
  if (certFile === undefined || keyFile === undefined) {
    const [has, lacks] = certFile === undefined ? ['key', 'cert'] : ['cert', 'key'];
    throw new UserError(
      'config_invalid',
      `tls.${has}_file is set and tls.${lacks}_file is not: TLS needs both, plain HTTP neither`,
    );
  }
  return pairOf(read('certificate', certFile), read('key', keyFile), { certFile, keyFile });
}

function pairOf(
  cert: Buffer,
  key: Buffer,
  at: { readonly certFile: string; readonly keyFile: string },
): Certificate {
  const { certFile, keyFile } = at;
  const own = parsed(() => new X509Certificate(cert), `${certFile}: holds no certificate in PEM`);
  const secret = parsed(
    () => createPrivateKey(key),
    `${keyFile}: holds no private key in PEM without a passphrase`,
  );
  if (!own.checkPrivateKey(secret))
    throw new UserError('config_invalid', `${keyFile}: is not the key of the certificate in ${certFile}`);
  parsed(() => createSecureContext({ cert, key }), `${certFile} and ${keyFile}: cannot be used for TLS`);
  const mark = createHash('sha256').update(cert).update('\0').update(key).digest('hex');
  return { cert, key, expiresAt: Date.parse(own.validTo), mark };
}

function parsed<T>(parse: () => T, complaint: string): T {
  try {
    return parse();
  } catch (cause) {
    throw new UserError('config_invalid', `${complaint} (${errorText(cause)})`, { cause });
  }
}

function read(what: string, path: string): Buffer {
  return readWithin({ path, what: `the TLS ${what}`, largestBytes: MOST_BYTES, code: 'config_unreadable' });
}
