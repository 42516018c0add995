/** How a serving command ends: the first signal lets it finish its work, the second does not. */

import { EXIT, type ExitCode } from '../shared/errors.js';
import type { Log } from '../shared/log.js';
import { errorText } from '../shared/log.js';
import type { Signals } from './command.js';

/**
 * Waits for a signal, then for `stop`; answers 0. A second signal answers 1 at once, whatever `stop` is doing, and
 * so does a `stop` that fails.
 */
export function untilStopped(signals: Signals, log: Log, stop: () => Promise<void>): Promise<ExitCode> {
  return new Promise((resolve) => {
    let stopping = false;
    const end = (code: ExitCode): void => {
      unlisten();
      resolve(code);
    };
    const unlisten = signals.listen((signal) => {
      if (stopping) {
        log.warn('stopping at once', { signal });
        end(EXIT.failed);
        return;
      }
      stopping = true;
      log.info('stopping: taking no new requests, finishing those under way; a second signal ends at once', {
        signal,
      });
      stop().then(
        () => end(EXIT.ok),
        (error: unknown) => {
          log.error('could not stop in order', { error: errorText(error) });
          end(EXIT.failed);
        },
      );
    });
  });
}
