import type {
  jetstream,
  JetStreamClient,
  jetstreamManager,
  JetStreamManager,
  StreamConfig,
} from "@nats-io/jetstream";
import type { Kvm } from "@nats-io/kv";
import type {
  connect,
  createInbox,
  headers,
  MsgHdrs,
  NatsConnection,
} from "@nats-io/transport-node";
import type { NatsSettings } from "./nats-options.js";
import { AgentEnsembleError } from "../../../contracts/errors.js";
import { NetworkError } from "../../../contracts/network-errors.js";
import { messageOf } from "../../../util/errors.js";
import { codeOf } from "../../../util/objects.js";
import { settleWithin } from "../../../util/abort/timeouts.js";
import { systemClock } from "../../../util/runtime.js";
import { loadOptionalPackage } from "../../shared/optional-package.js";
import { BrokerNames } from "./broker-names.js";

/** A connection with its streams and buckets. */
export interface BrokerLink {
  readonly nc: NatsConnection;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  readonly headers: () => MsgHdrs;
  readonly createInbox: () => string;
}

interface CoreModule {
  readonly connect: typeof connect;
  readonly headers: typeof headers;
  readonly createInbox: typeof createInbox;
}

interface StreamModule {
  readonly jetstream: typeof jetstream;
  readonly jetstreamManager: typeof jetstreamManager;
}

const CONNECT_MS = 5_000;
const RECONNECT_MS = 250;
/** Maximum wait of a call for a lost connection, in milliseconds. */
const REACH_MS = 5_000;
/** Time in milliseconds for which a measured clock difference is used. */
const CLOCK_MS = 60_000;
const NANOS = 1_000_000;
const STREAM_NOT_FOUND = 10_059;

/** The connection of a backend. It is opened at the first call, and kept until `close()`. */
export class Broker {
  readonly names: BrokerNames;
  readonly settings: NatsSettings;
  readonly #returned = new Set<() => void>();
  #connection: Promise<BrokerLink> | undefined;
  #prepared: Promise<void> | undefined;
  /** A promise that is pending while the connection is lost. */
  #online: { readonly back: Promise<void>; readonly resolve: () => void } | undefined;
  #clock: Promise<{ readonly offsetMs: number; readonly untilMs: number }> | undefined;
  #isClosed = false;
  #round = 0;

  constructor(settings: NatsSettings) {
    this.settings = settings;
    this.names = new BrokerNames(settings.prefix);
  }

  /** Executes work with the connection. @throws NetworkError if it fails. */
  async run<T>(work: (link: BrokerLink) => Promise<T>): Promise<T> {
    try {
      return await work(await this.#link());
    } catch (error) {
      throw this.#mapped(error);
    }
  }

  /** Increases each time when the server may have lost streams or buckets. */
  get round(): number {
    return this.#round;
  }

  get isOnline(): boolean {
    return this.#connection !== undefined && this.#online === undefined;
  }

  /**
   * Calls `fn` each time a lost connection is restored. Returns a function that removes the
   * callback.
   */
  onReturn(fn: () => void): () => void {
    this.#returned.add(fn);
    return () => this.#returned.delete(fn);
  }

  /** Returns the milliseconds since 1970 by the clock of the server. */
  async now(link: BrokerLink): Promise<number> {
    const kept = await this.#clock?.catch(() => undefined);
    const now = systemClock.monotonicMs();
    if (kept !== undefined && now < kept.untilMs) return now + kept.offsetMs;
    this.#clock = this.#readClock(link);
    return systemClock.monotonicMs() + (await this.#clock).offsetMs;
  }

  unreachable(cause?: unknown): NetworkError {
    const reason = cause === undefined ? "the connection is lost" : messageOf(cause);
    return new NetworkError(`NATS at ${this.settings.shown} can't be used: ${reason}`, {
      cause,
      hint: "Check that the server runs with JetStream (nats-server -js), and its address.",
    });
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#online?.resolve();
    const link = await this.#connection?.catch(() => undefined);
    await link?.nc.close();
  }

  async #link(): Promise<BrokerLink> {
    this.requireOpen();
    this.#connection ??= this.#connect();
    let link;
    try {
      link = await this.#connection;
    } catch (error) {
      this.#connection = undefined; // the next call tries again
      throw error;
    }
    if (this.#online !== undefined)
      await settleWithin(this.#online.back, AbortSignal.timeout(REACH_MS)).catch(() => {
        throw this.unreachable();
      });
    this.requireOpen();
    this.#prepared ??= this.#prepare(link);
    try {
      await this.#prepared;
    } catch (error) {
      this.#prepared = undefined;
      throw error;
    }
    return link;
  }

  /** @throws NetworkError after `close()`. */
  requireOpen(): void {
    if (this.#isClosed)
      throw new NetworkError("The NATS backend is closed", {
        hint: "Close the backend after its services and callers.",
      });
  }

  async #connect(): Promise<BrokerLink> {
    const core = await loadOptionalPackage<CoreModule>("@nats-io/transport-node", "nats() needs");
    const streams = await loadOptionalPackage<StreamModule>("@nats-io/jetstream", "nats() needs");
    const nc = await core.connect({
      ...this.settings.address,
      name: this.settings.prefix,
      timeout: CONNECT_MS,
      maxReconnectAttempts: -1,
      reconnectTimeWait: RECONNECT_MS,
      ignoreAuthErrorAbort: true,
    });
    if (this.#isClosed) await nc.close();
    void this.#follow(nc);
    return {
      nc,
      js: streams.jetstream(nc),
      jsm: await streams.jetstreamManager(nc, { checkAPI: false }),
      headers: core.headers,
      createInbox: () => core.createInbox(),
    };
  }

  async #follow(nc: NatsConnection): Promise<void> {
    for await (const { type } of nc.status()) {
      if (type === "disconnect" && this.#online === undefined) {
        const { promise: back, resolve } = withResolvers();
        this.#online = { back, resolve };
      }
      if (type === "reconnect") {
        this.forgetPrepared(); // the server may have lost them
        this.#online?.resolve();
        this.#online = undefined;
        for (const fn of this.#returned) fn();
      }
    }
  }

  /** Causes the next call to check the streams and buckets. */
  forgetPrepared(): void {
    this.#prepared = undefined;
    this.#clock = undefined;
    this.#round++;
  }

  /**
   * Creates missing streams and buckets. Existing ones keep their configuration, except for the age
   * of ids.
   */
  async #prepare({ js, jsm }: BrokerLink): Promise<void> {
    const kv = await loadOptionalPackage<{ readonly Kvm: typeof Kvm }>(
      "@nats-io/kv",
      "nats() needs",
    );
    const manager = new kv.Kvm(js);
    const { names } = this;
    const ensured = (config: Partial<StreamConfig> & { name: string }): Promise<unknown> =>
      jsm.streams.info(config.name).catch((error: unknown) => {
        if (codeOf(error) !== STREAM_NOT_FOUND) throw error;
        return jsm.streams.add({ storage: "file", allow_direct: true, ...config });
      });
    const republish = {
      src: `$KV.${names.results}.result.>`,
      dest: names.subject("stored", ">"),
      headers_only: true,
    };
    await Promise.all([
      ensured({
        name: names.requests,
        subjects: [names.subject("requests", ">")],
        retention: "workqueue",
      }),
      ensured({ name: names.parts, subjects: [names.subject("parts", ">")] }),
      ensured({
        name: names.dead,
        subjects: [names.subject("dead", ">")],
        max_msgs_per_subject: 1,
      }),
      manager.create(names.states, { history: 1, ttl: this.settings.idTtlMs }),
      manager.create(names.results, { history: 1, ttl: this.settings.idTtlMs, republish }),
      manager.create(names.catalogue, { history: 1, ttl: this.settings.idTtlMs }),
      manager.create(names.limits, { history: 1, ttl: this.settings.idTtlMs }),
    ]);
  }

  async #readClock({ js, jsm }: BrokerLink): Promise<{ offsetMs: number; untilMs: number }> {
    const { states } = this.names;
    const before = systemClock.monotonicMs();
    const subject = `$KV.${states}.clock`;
    await js.publish(subject, "");
    const after = systemClock.monotonicMs();
    // Another client may have replaced the message. Its instant is equally valid.
    const stored = await jsm.streams.getMessage(`KV_${states}`, { last_by_subj: subject });
    if (stored === null) throw new Error("the server has not stored the message for its clock");
    return { offsetMs: timeOf(stored) - (before + after) / 2, untilMs: after + CLOCK_MS };
  }

  #mapped(error: unknown): unknown {
    if (AgentEnsembleError.isInstance(error)) return error;
    if (this.#isClosed) {
      try {
        this.requireOpen();
      } catch (closed) {
        return closed;
      }
    }
    this.forgetPrepared(); // a stream may be missing, which causes various errors
    return this.unreachable(error);
  }
}

/** Returns the instant at which a message was stored. */
export function timeOf({ timestamp }: { readonly timestamp: string }): number {
  const [, seconds = timestamp, fraction = "0"] = /^(.*?)(?:\.(\d+))?Z$/.exec(timestamp) ?? [];
  return Date.parse(`${seconds}Z`) + Number(`0.${fraction}`) * 1_000;
}

export function nanosOf(ms: number): number {
  return Math.round(ms * NANOS);
}

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}
