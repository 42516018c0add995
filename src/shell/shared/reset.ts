/** Resets a connection, so that no client takes what it has of an answer for all of it. */

import { Socket } from 'node:net';

/** Resets `socket`, below TLS where it speaks that; one whose own end is on its way is destroyed, since Node leaks its handle otherwise. */
export function reset(socket: Socket): void {
  // What TCP can reset is the connection below, which Node keeps in a field that its documents do not name.
  const below: unknown = 'encrypted' in socket ? Reflect.get(socket, '_parent') : socket;
  if (below instanceof Socket && !socket.writableEnded) below.resetAndDestroy();
  else socket.destroy();
}
