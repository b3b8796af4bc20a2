import type { Msg, Subscription } from "@nats-io/transport-node";
import type { Broker, BrokerLink } from "./broker.js";
import type { Ticket } from "./tickets.js";
import { NetworkError } from "../../../contracts/network-errors.js";
import { firstEnding } from "../../../util/abort/timeouts.js";
import { startTimer } from "../../../util/abort/timer.js";
import { nanosOf } from "./broker.js";
import { delayTicket, ticketOf } from "./tickets.js";

type TicketSettled = (ticket: Ticket | undefined, error?: NetworkError) => void;

/** A waiting consumer of this client. */
interface TicketWaiter {
  readonly settle: TicketSettled;
}

/** Duration of a pull at the server, in milliseconds. */
const PULL_MS = 10_000;
/** Maximum delay of an answer after the end of its pull, in milliseconds. */
const GRACE_MS = 2_000;
/** Time in milliseconds for which a ticket without a waiter is kept. */
const KEEP_MS = 250;
/** Pause in milliseconds after a pull that the server refused. */
const PAUSE_MS = 250;
const TIMED_OUT = 408;

/**
 * Receives tickets of one queue from the server. A pull whose waiter has ended stays open for the
 * next waiter. The server would deliver a ticket to a closed pull, and then wait for the
 * acknowledgement.
 */
export class TicketPulls {
  readonly #broker: Broker;
  readonly #consumer: string;
  /** Ensures that the consumer exists. */
  readonly #prepare: (link: BrokerLink) => Promise<void>;
  readonly #waiters = new Set<TicketWaiter>();
  /**
   * The pulls without an answer of the server, oldest first, with functions that stop their timers.
   */
  readonly #open = new Map<string, () => void>();
  readonly #kept = new Map<Ticket, () => void>();
  readonly #leave: () => void;
  #inbox: { readonly name: string; readonly subscription: Subscription } | undefined;
  #count = 0;
  #isPaused = false;
  #stopPause: (() => void) | undefined;

  constructor(broker: Broker, consumer: string, prepare: (link: BrokerLink) => Promise<void>) {
    this.#broker = broker;
    this.#consumer = consumer;
    this.#prepare = prepare;
    this.#leave = broker.onReturn(() => {
      this.#forgetOpen(); // the server does not have them any more
      this.#refill();
    });
  }

  /**
   * Returns the next ticket. Returns `undefined` after `timeoutMs` or an abort. With 0, does not
   * wait.
   */
  async take(timeoutMs: number, signal: AbortSignal | undefined): Promise<Ticket | undefined> {
    for (const [ticket, stop] of this.#kept) {
      stop();
      this.#kept.delete(ticket);
      return ticket;
    }
    if (signal?.aborted === true) return undefined;
    const linking = this.#broker.run(async (made) => {
      await this.#prepare(made);
      return made;
    });
    if ((await firstEnding(linking, { signal })) === "aborted") return undefined;
    const link = await linking;
    return new Promise((resolve, reject) => {
      const waiter: TicketWaiter = {
        settle: (ticket, error) => {
          this.#waiters.delete(waiter);
          stop();
          signal?.removeEventListener("abort", leave);
          if (error === undefined) resolve(ticket);
          else reject(error);
        },
      };
      const leave = (): void => waiter.settle(undefined);
      const late = (): void =>
        waiter.settle(undefined, this.#broker.isOnline ? undefined : this.#broker.unreachable());
      const stop = startTimer(Math.max(timeoutMs, timeoutMs <= 0 ? GRACE_MS : 0), late);
      signal?.addEventListener("abort", leave);
      this.#waiters.add(waiter);
      if (signal?.aborted === true) leave();
      else if (timeoutMs <= 0) this.#look(link, waiter);
      else this.#refill();
    });
  }

  /** Ends all waits, and returns the kept tickets. */
  close(): void {
    this.#leave();
    this.#stopPause?.();
    for (const waiter of [...this.#waiters]) waiter.settle(undefined);
    for (const [ticket, stop] of this.#kept) {
      stop();
      this.#giveBack(ticket);
    }
    this.#kept.clear();
    this.#forgetOpen();
    this.#inbox?.subscription.unsubscribe();
  }

  #forgetOpen(): void {
    for (const stop of this.#open.values()) stop();
    this.#open.clear();
  }

  /** Opens one pull for each waiting consumer. */
  #refill(): void {
    const lacking = (): boolean => !this.#isPaused && this.#open.size < this.#waiters.size;
    if (!lacking()) return;
    this.#broker
      .run(async (link) => {
        await this.#prepare(link);
        while (lacking()) this.#pull(link);
      })
      .catch((error: unknown) => this.#pause(error));
  }

  /** Pauses after a failure, so that the pull is not repeated without a limit. */
  #pause(error?: unknown): void {
    if (NetworkError.isInstance(error))
      for (const waiter of [...this.#waiters]) waiter.settle(undefined, error);
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#stopPause = startTimer(PAUSE_MS, () => {
      this.#isPaused = false;
      this.#refill();
    });
  }

  #pull(link: BrokerLink): void {
    const inbox = this.#inboxOf(link);
    const reply = `${inbox}.${++this.#count}`;
    const stop = startTimer(PULL_MS + GRACE_MS, () => {
      this.#open.delete(reply);
      this.#refill();
    });
    this.#open.set(reply, stop);
    this.#request(link, { batch: 1, expires: nanosOf(PULL_MS) }, reply);
  }

  /** Requests a currently available ticket. */
  #look(link: BrokerLink, looker: TicketWaiter): void {
    const reply = link.createInbox();
    link.nc.subscribe(reply, {
      max: 1,
      callback: (_, message) => {
        if ((message.headers?.code ?? 0) === 0) this.#arrived(ticketOf(message), looker);
        else looker.settle(undefined);
      },
    });
    this.#request(link, { batch: 1, no_wait: true }, reply);
  }

  #request({ nc }: BrokerLink, pull: object, reply: string): void {
    const subject = `$JS.API.CONSUMER.MSG.NEXT.${this.#broker.names.requests}.${this.#consumer}`;
    nc.publish(subject, JSON.stringify(pull), { reply });
  }

  #inboxOf({ nc, createInbox }: BrokerLink): string {
    if (this.#inbox === undefined) {
      const name = createInbox();
      const subscription = nc.subscribe(`${name}.*`, {
        callback: (_, message) => this.#answered(message),
      });
      this.#inbox = { name, subscription };
    }
    return this.#inbox.name;
  }

  #answered(message: Msg): void {
    const status = message.headers?.code ?? 0;
    // A status has the subject of its pull. A ticket has a separate subject, and answers the oldest
    // pull.
    const [oldest = ""] = this.#open.keys();
    const pull = status === 0 ? oldest : message.subject;
    this.#open.get(pull)?.();
    this.#open.delete(pull);
    if (status === 0) this.#arrived(ticketOf(message), undefined);
    else if (status === TIMED_OUT) this.#refill();
    else {
      this.#broker.forgetPrepared();
      this.#pause();
    }
  }

  #arrived(ticket: Ticket, looker: TicketWaiter | undefined): void {
    const [first] = this.#waiters;
    const waiter = looker !== undefined && this.#waiters.has(looker) ? looker : first;
    if (waiter !== undefined) return waiter.settle(ticket);
    const stop = startTimer(KEEP_MS, () => {
      this.#kept.delete(ticket);
      this.#giveBack(ticket);
    });
    this.#kept.set(ticket, stop);
  }

  #giveBack(ticket: Ticket): void {
    // The server waits for the acknowledgement until its limit.
    this.#broker.run(async (link) => delayTicket(link, ticket.ack, 0)).catch(() => undefined);
  }
}
