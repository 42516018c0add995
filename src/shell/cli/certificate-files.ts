/** The certificate's files while the gateway runs: followed, taken over as a pair that fits, left alone otherwise. */

import { type Certificate, certificateOf } from '../gateway/certificate.js';
import type { TlsSettings } from '../gateway/config-tls.js';
import { UserError } from '../shared/errors.js';
import { FileWatch } from '../shared/file-watch.js';
import type { Log } from '../shared/log.js';

export interface CertificateParts {
  readonly log: Log;
  readonly certify: (certificate: Certificate) => void;
}

export class CertificateFiles {
  readonly #settings: TlsSettings;
  readonly #parts: CertificateParts;
  readonly #watches: readonly FileWatch[];
  /** What was read last, good or bad, so that one mistake is said once. */
  #seen: string;

  /** `inForce` is what the files that the settings name held at the start. */
  constructor(settings: TlsSettings, inForce: Certificate, parts: CertificateParts) {
    this.#settings = settings;
    this.#parts = parts;
    this.#seen = inForce.mark;
    const paths = [settings.certFile, settings.keyFile].filter((path) => path !== undefined);
    this.#watches = paths.map((path) => new FileWatch(path, { changed: () => this.#read(false) }));
  }

  /** Somebody asked for it: something is said in any case. */
  asked(): void {
    this.#read(true);
  }

  close(): void {
    for (const watch of this.#watches) watch.close();
  }

  #read(asked: boolean): void {
    const { log, certify } = this.#parts;
    try {
      const certificate = certificateOf(this.#settings);
      if (certificate === undefined) return;
      if (certificate.mark === this.#seen && !asked) return;
      this.#seen = certificate.mark;
      certify(certificate);
      log.info(`the certificate is in force, until ${new Date(certificate.expiresAt).toISOString()}`);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      if (error.message === this.#seen && !asked) return;
      this.#seen = error.message;
      log.error(`the certificate was not taken over, the one in force stays: ${error.message}`);
    }
  }
}
