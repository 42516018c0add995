/** A process of its own that opens connections and says nothing on them: `idle-connections PORT COUNT`; it tells its parent once all are there. */

import { once } from 'node:events';
import { connect } from 'node:net';

const [port = 0, count = 0] = process.argv.slice(2).map(Number);
const BATCH = 200;

for (let open = 0; open < count; open += BATCH) {
  const batch = Array.from({ length: Math.min(BATCH, count - open) }, async () => {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.on('error', () => {});
  });
  await Promise.all(batch);
}
process.send?.(count);
