/** The gateway as a server: it listens, tells attempts from everything else, and stops without losing answers. */

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { assert } from '../../core/assert.js';
import { Control } from '../../core/control/control.js';
import { familyOf } from '../../core/control/family.js';
import type { Ledger } from '../../core/control/ledger.js';
import type { RejectReason } from '../../core/control/words.js';
import type { Clock } from '../../core/time/clock.js';
import type { Log } from '../shared/log.js';
import { difference } from '../shared/settings/resolve.js';
import { adminServer } from './admin.js';
import type { AllowedKeys } from './allowed-keys.js';
import { Attempt, type AttemptHost } from './attempt.js';
import { cacheSalt, salted } from './cache-salt.js';
import { Carrier } from './carrier.js';
import type { Certificate } from './certificate.js';
import { answerClientError } from './client-error.js';
import { clientServer, listen, renew, urlOf } from './client-server.js';
import { type GatewayConfig, SETTINGS } from './config.js';
import { answersCors } from './cors.js';
import { Connection } from './departure.js';
import { keptFamilies } from './engine-metrics.js';
import { controlOptionsOf } from './engines.js';
import { factsOf } from './facts.js';
import { forwardedToEngine, textOf } from './headers.js';
import { tenantOf } from './identity.js';
import { RandomPool } from './ids.js';
import { Inbound } from './inbound.js';
import { KeptRequests } from './kept-requests.js';
import {
  answerLocally,
  type LocalParts,
  refuseHeaders,
  refuseKey,
  refuseTarget,
  refuseUnsound,
  unsound,
} from './local.js';
import type { Metrics } from './metrics.js';
import { answerModels, asksForModels } from './models.js';
import { observers } from './observer.js';
import { type PassThroughParts, passThrough } from './passthrough.js';
import type { Pseudonym } from './pseudonym.js';
import { Recorder } from './record.js';
import { declaredBytes, type ReadBody, readBody, type TenantShare } from './request-body.js';
import { originForm, type Route, recognised } from './routes.js';
import { TenantBytes } from './tenant-bytes.js';
import { Upstream } from './upstream.js';

const ADMIN_WORDS = { host: 'admin.host', port: 'admin.port' };
/** When everything has ended, what is still on its way to clients has this long, milliseconds. */
const FLUSH_MS = 1_000;

export interface GatewayParts {
  readonly clock: Clock;
  /** Milliseconds of `clock` a millisecond of the clients'; 1 when absent, more where a test runs faster than life. */
  readonly scale?: number;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly pseudonym: Pseudonym;
  /** The wall clock, milliseconds since 1970: for deadlines that are given as a date. */
  readonly wallClock: () => number;
  readonly randomBytes: (size: number) => Buffer;
  /** Whose requests are taken; absent: everybody's. */
  readonly allowed?: AllowedKeys | undefined;
  /** What clients see of it; absent: plain HTTP. */
  readonly certificate?: Certificate | undefined;
}

export interface Gateway {
  /** `http://host:port` as it listens, or `https` with a certificate. */
  readonly url: string;
  readonly port: number;
  /** The same of the port for operators, where there is one. */
  readonly adminUrl: string | undefined;
  /** The control's books, to be read only. */
  readonly ledger: Ledger;
  /** Takes over the settings of `config` that may change while running; the others stay as they are. */
  reconfigure(config: GatewayConfig): void;
  /** From now on only requests with one of these keys are taken; undefined: everybody's. */
  allow(keys: AllowedKeys | undefined): void;
  /** From now on new clients see this certificate; only where the gateway began with one. */
  certify(certificate: Certificate): void;
  /** Refuses what is new, waits for what is live up to the configured time, then closes. */
  drain(): Promise<void>;
  /** Ends everything now. */
  close(): Promise<void>;
}

/** Starts a gateway and resolves when it listens; rejects with a `UserError` when it cannot. */
export async function startGateway(config: GatewayConfig, parts: GatewayParts): Promise<Gateway> {
  const gateway = new RunningGateway(config, parts);
  await gateway.listen();
  return gateway;
}

/** A request of a recognised route, read or turned away. */
interface Arrived {
  readonly route: Route;
  readonly connection: Connection;
  readonly body: ReadBody | RejectReason;
}

class RunningGateway implements Gateway, AttemptHost {
  #config: GatewayConfig;
  readonly #parts: GatewayParts;
  readonly #secret: string;
  readonly #scale: number;
  readonly #chance: RandomPool;
  readonly #control: Control;
  readonly #upstream: Upstream;
  readonly #carrier: Carrier;
  readonly #server: Server;
  readonly #inbound: Inbound;
  readonly #tenantBytes: TenantBytes;
  readonly #admin: Server | undefined;
  readonly #local: LocalParts;
  readonly #connections = new WeakMap<Socket, Connection>();
  readonly #passing = new Set<Promise<void>>();
  #allowed: AllowedKeys | undefined;
  #port = 0;
  #adminPort: number | undefined;
  #draining = false;
  #closed: Promise<void> | undefined;

  constructor(config: GatewayConfig, parts: GatewayParts) {
    const { clock, log, metrics, pseudonym, randomBytes } = parts;
    this.#config = config;
    this.#allowed = parts.allowed;
    this.#parts = parts;
    this.#secret = randomBytes(32).toString('hex');
    this.#scale = parts.scale ?? 1;
    this.#chance = new RandomPool(randomBytes);
    this.#control = new Control({
      options: controlOptionsOf(config),
      makeId: (of) => this.#id(of),
      uniform: () => this.#chance.uniform(),
    });
    metrics.follow(this.#control);
    this.#inbound = new Inbound(log);
    metrics.also(() => this.#inbound.families());
    this.#tenantBytes = new TenantBytes(() => this.#config.inbound.tenantBytes !== 'off');
    const observer = observers([metrics, new Recorder(log, pseudonym)], this.#tenantBytes);
    this.#upstream = new Upstream(
      config,
      () => this.#control.gauges().engines,
      (url, error) => observer.unreachable(url, error),
    );
    const kept = new KeptRequests(() => this.#config.repeatBytes);
    metrics.also(() => keptFamilies(kept));
    this.#carrier = new Carrier({
      config: () => this.#config,
      control: this.#control,
      clock,
      observer,
      upstream: this.#upstream,
      kept,
    });
    this.#local = {
      draining: () => this.#draining,
      engineWorks: () => this.#control.gauges().engines.some(({ away }) => !away),
      metricsText: () => metrics.text(),
      metricsElsewhere: config.admin.port !== undefined,
    };
    this.#server = this.#makeServer();
    if (config.admin.port !== undefined)
      this.#admin = adminServer({ ...this.#local, metricsElsewhere: false });
  }

  get draining(): boolean {
    return this.#draining;
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return urlOf(this.#config.host, this.port, this.#parts.certificate === undefined ? 'http' : 'https');
  }

  get adminUrl(): string | undefined {
    return this.#adminPort === undefined ? undefined : urlOf(this.#config.admin.host, this.#adminPort);
  }

  get ledger(): Ledger {
    return this.#control.ledger;
  }

  async listen(): Promise<void> {
    const { host, port, admin } = this.#config;
    this.#port = await listen(this.#server, host, port);
    this.#carrier.begin();
    if (this.#admin === undefined) return;
    try {
      this.#adminPort = await listen(this.#admin, admin.host, admin.port ?? 0, ADMIN_WORDS);
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  reconfigure(config: GatewayConfig): void {
    this.#config = difference(SETTINGS, this.#config, config).taken;
    Inbound.tune(this.#server, this.#config.inbound);
    this.#carrier.send({ kind: 'reconfigure', options: controlOptionsOf(this.#config) });
  }

  allow(keys: AllowedKeys | undefined): void {
    this.#allowed = keys;
  }

  certify(certificate: Certificate): void {
    assert(this.#parts.certificate !== undefined, 'the gateway began without TLS');
    renew(this.#server, certificate, this.#config.tls);
    this.#inbound.certified(certificate);
  }

  async drain(): Promise<void> {
    this.#draining = true;
    this.#carrier.send({ kind: 'drain' });
    await Promise.race([this.#idle(), this.#after(this.#config.drainMs)]);
    await this.close();
  }

  close(): Promise<void> {
    this.#closed ??= this.#stop();
    return this.#closed;
  }

  async #stop(): Promise<void> {
    this.#draining = true;
    this.#carrier.send({ kind: 'stop' });
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    this.#server.closeIdleConnections();
    const flushed = setTimeout(() => {
      this.#server.closeAllConnections();
      this.#inbound.hangUp();
    }, FLUSH_MS);
    await closed;
    this.#admin?.close();
    this.#admin?.closeAllConnections();
    clearTimeout(flushed);
    this.#inbound.close();
    this.#carrier.close();
    await this.#upstream.close();
  }

  async #idle(): Promise<void> {
    await this.#carrier.idle();
    while (this.#passing.size > 0) await Promise.all(this.#passing);
  }

  #after(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#parts.clock.after(ms, resolve);
    });
  }

  #makeServer(): Server {
    const { clock, certificate } = this.#parts;
    const { inbound, tls } = this.#config;
    const { deliveredAfterMs } = this.#config.control;
    const connected = (socket: Socket): void => {
      this.#connections.set(socket, new Connection(socket, clock, deliveredAfterMs));
    };
    const server = clientServer({ inbound, tls, certificate, connected });
    Inbound.tune(server, inbound);
    this.#inbound.count(server);
    if (certificate !== undefined) this.#inbound.certified(certificate);
    server.on('request', (request, response) => this.#serve(request, response));
    server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
      if (declaredBytes(request) <= this.#config.requestBytes || this.#routeOf(request) === undefined)
        response.writeContinue();
      this.#serve(request, response);
    });
    server.on('clientError', (error: Error, socket) => {
      // Node gives the connection itself, whatever its types call it.
      const connection = socket as Socket;
      if (this.#connections.has(connection))
        answerClientError(error, connection, this.#inbound.meets(connection));
      else this.#inbound.unshaken(error, connection);
    });
    return server;
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    if (!this.#inbound.follow(request.socket, response, this.#config.inbound.pipelined)) return;
    if (this.#draining) response.shouldKeepAlive = false;
    if (request.rawHeaders.length > 2 * this.#config.inbound.headerFields) return refuseHeaders(response);
    const wrong = unsound(request);
    if (wrong !== undefined) return refuseUnsound(response, wrong);
    request.url = originForm(request.url ?? '/');
    if (!request.url.startsWith('/')) return refuseTarget(response);
    if (answersCors(request, response, this.#config.cors)) return;
    if (answerLocally(request, response, this.#local)) return;
    const route = this.#routeOf(request);
    if (route !== undefined) this.#attempt(request, response, route);
    else if (this.#allowed?.allows(request) === false) refuseKey(response);
    else if (this.#upstream.several && asksForModels(request))
      this.#follow(answerModels(request, response, this.#passParts()));
    else this.#follow(passThrough(request, response, this.#passParts()));
  }

  #routeOf({ method, url = '/' }: IncomingMessage): Route | undefined {
    return recognised(method, originForm(url), this.#config.routes);
  }

  #passParts(): PassThroughParts {
    return {
      upstream: this.#upstream,
      timeouts: this.#config.upstreamTimeouts,
      passed: (status) => this.#parts.metrics.passedThrough(status),
    };
  }

  #follow(passing: Promise<void>): void {
    this.#passing.add(passing);
    void passing.finally(() => this.#passing.delete(passing));
  }

  #attempt(request: IncomingMessage, response: ServerResponse, route: Route): void {
    const connection = this.#connections.get(request.socket);
    if (connection === undefined) return;
    if (this.#allowed?.allows(request) === false)
      return this.#take(request, response, { route, connection, body: 'rejected_key' });
    const { requestBytes, inbound } = this.#config;
    const bounds = {
      clock: this.#parts.clock,
      held: this.#inbound.bodies,
      mostBytes: requestBytes,
      mostHeldBytes: inbound.bodyBytes,
      tenant: this.#shareOf(request),
      wholeMs: inbound.bodyMs * this.#scale,
      idleMs: inbound.bodyIdleMs * this.#scale,
    };
    readBody(request, bounds, (body) => this.#take(request, response, { route, connection, body }));
  }

  #take(request: IncomingMessage, response: ServerResponse, { route, connection, body }: Arrived): void {
    const { clock, wallClock } = this.#parts;
    const attempt = new Attempt({
      id: this.#id('attempt'),
      route,
      request,
      response,
      connection,
      arrivedAt: clock.now(),
      clock,
      scale: this.#scale,
      host: this,
      sink: this.#carrier,
    });
    if (typeof body === 'string') {
      attempt.family = familyOf(textOf(request, 'user-agent') ?? '');
      return this.#carrier.reject(attempt, body);
    }
    const { bytes, packed } = body;
    const config = this.#config;
    const parts = { config, wallClock, secret: this.#secret, scale: this.#scale };
    const facts = factsOf(request, route, body, parts);
    const { tenantAttempts } = config.inbound;
    if (tenantAttempts !== 'off' && this.#carrier.openOf(facts.tenant) >= tenantAttempts) {
      attempt.family = familyOf(facts.userAgent);
      return this.#carrier.reject(attempt, 'rejected_tenant_full');
    }
    attempt.tenant = facts.tenant;
    attempt.keepRequest({
      method: request.method ?? 'POST',
      target: request.url ?? route.path,
      headers: forwardedToEngine(request, packed),
      body: config.cacheSalt === 'tenant' && !packed ? salted(bytes, cacheSalt(facts.tenant)) : bytes,
    });
    this.#carrier.arrive(attempt, facts);
  }

  /** What the request's tenant holds; absent while no tenant has a bound. */
  #shareOf(request: IncomingMessage): TenantShare | undefined {
    const most = this.#config.inbound.tenantBytes;
    return most === 'off'
      ? undefined
      : this.#tenantBytes.share(tenantOf(request, this.#config, this.#secret), most);
  }

  /** Executions granted beyond entitlements in the window, and how many it allows. */
  budgetOf(tenant: string): string | undefined {
    const budget = this.#control.tenantBudget(tenant);
    return budget === undefined
      ? undefined
      : `granted=${budget.granted}, allowed=${Math.floor(budget.allowance)}`;
  }

  #id(of: 'call' | 'execution' | 'attempt'): string {
    return `${of}-${this.#chance.id()}`;
  }
}
