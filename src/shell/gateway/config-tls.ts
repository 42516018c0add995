/** The settings of TLS on the side of the clients. */

import { choice, duration } from '../shared/settings/kinds.js';
import { optional, setting, type Values } from '../shared/settings/table.js';
import { filePath } from './config-kinds.js';

export const TLS = {
  certFile: optional(filePath, {
    changes: 'restart',
    about:
      'the certificate that clients see, in PEM, those of its issuers behind it; with it the gateway speaks TLS and nothing else on `port`, while `admin.port` stays plain. It is read again when it changes and on SIGHUP; a pair that does not fit leaves the one in force',
  }),
  keyFile: optional(filePath, {
    changes: 'restart',
    about: 'its private key, in PEM, without a passphrase',
  }),
  minVersion: setting(choice(['tlsv1.2', 'tlsv1.3'] as const), {
    default: 'tlsv1.2',
    changes: 'restart',
    about: 'the oldest version that is spoken',
  }),
  handshakeMs: setting(duration({ least: 1, most: 600_000 }), {
    default: 10_000,
    changes: 'restart',
    about: 'longest time for a handshake; at the bound the connection is closed and counted',
  }),
};
export interface TlsSettings extends Values<typeof TLS> {}
