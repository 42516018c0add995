/** Whose address a request comes from when proxies stand before the gateway: believed as far as they are trusted. */

import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { valuesOf } from './headers.js';

export interface ProxySettings {
  /** Addresses and networks in CIDR form. */
  readonly trustedProxies: readonly string[];
  readonly forwardedHeader: 'x-forwarded-for' | 'forwarded';
}

/** Longer chains are looked at from their near end only. */
const MOST_HOPS = 32;

const lists = new WeakMap<readonly string[], BlockList>();

/** The nearest address in the chain that is no trusted proxy; the connection's own where nobody is trusted. */
export function clientAddress(
  request: IncomingMessage,
  { trustedProxies, forwardedHeader }: ProxySettings,
): string {
  let address = plain(request.socket.remoteAddress ?? '');
  if (trustedProxies.length === 0) return address;
  const trusted = listOf(trustedProxies);
  const text = valuesOf(request, forwardedHeader).join(',');
  const named = forwardedHeader === 'forwarded' ? forwardedFor(text) : text.split(',');
  for (const hop of named.toReversed().slice(0, MOST_HOPS)) {
    if (!isIn(trusted, address)) return address;
    const before = plain(withoutPort(hop.trim()));
    // What is no address was not written by a proxy that can be trusted.
    if (isIP(before) === 0) return address;
    address = before;
  }
  return address;
}

/** A network or an address in one form; undefined when it is none. */
export function readNetwork(raw: string): string | undefined {
  const [address = '', bits, ...rest] = raw.trim().split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return undefined;
  if (bits === undefined) return address;
  const most = family === 4 ? 32 : 128;
  return /^\d{1,3}$/.test(bits) && Number(bits) <= most ? `${address}/${Number(bits)}` : undefined;
}

function listOf(networks: readonly string[]): BlockList {
  const known = lists.get(networks);
  if (known !== undefined) return known;
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  lists.set(networks, list);
  return list;
}

function isIn(list: BlockList, address: string): boolean {
  const family = isIP(address);
  return family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

/** The `for` of each element of RFC 7239's `Forwarded`; empty where an element names none. */
function forwardedFor(text: string): string[] {
  if (text === '') return [];
  return text.split(',').map((element) => /(?:^|;)\s*for="?([^";]*)"?/i.exec(element)?.[1] ?? '');
}

/** An address as proxies write it: `1.2.3.4:80`, `[::1]:80`, `[::1]`. */
function withoutPort(hop: string): string {
  const [, inside] = /^\[([^\]]*)\](?::\d+)?$/.exec(hop) ?? [];
  return inside ?? (/^[\d.]+:\d+$/.test(hop) ? hop.slice(0, hop.indexOf(':')) : hop);
}

/** Without what a socket for both families puts before an address of IPv4. */
function plain(address: string): string {
  return address.toLowerCase().startsWith('::ffff:') && isIP(address.slice(7)) === 4
    ? address.slice(7)
    : address;
}
