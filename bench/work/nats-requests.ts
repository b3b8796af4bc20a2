import { connect, type NatsConnection } from "@nats-io/transport-node";
import { AckPolicy, jetstream, jetstreamManager, RetentionPolicy } from "@nats-io/jetstream";
import { Kvm } from "@nats-io/kv";
import { nats } from "agentensemble/network/nats";
import type { RequestFigures } from "./requests.js";
import { AT_ONCE, backendFigures, CONSUMERS, figuresOf, REQUESTS, TEXT } from "./requests.js";

const SERVER = process.env["AGENTENSEMBLE_TEST_NATS"] ?? "127.0.0.1:4222";

let count = 0;
const nextPrefix = (): string => `bench-${process.pid}-${count++}`;

async function connection(): Promise<NatsConnection | undefined> {
  return connect({ servers: SERVER, timeout: 2_000 }).catch(() => undefined);
}

/** Returns whether a server is available. */
export async function hasNats(): Promise<boolean> {
  const nc = await connection();
  await nc?.close();
  return nc !== undefined;
}

async function drop(prefix: string): Promise<void> {
  const nc = await connection();
  if (nc === undefined) return;
  const manager = await jetstreamManager(nc);
  const names = await manager.streams.names().next();
  for (const name of names.filter((one) => one.replace(/^KV_/, "").startsWith(`${prefix}-`)))
    await manager.streams.delete(name);
  await nc.close();
}

/** Returns the figures of the backend. */
export async function natsFigures(): Promise<RequestFigures> {
  const prefix = nextPrefix();
  try {
    return await backendFigures(nats({ servers: SERVER, prefix }));
  } finally {
    await drop(prefix);
  }
}

/**
 * Returns the figures of the client alone, in a program without leases, attempts and dead letters.
 * Ids and results are in buckets, requests are in a stream.
 */
export async function bareNatsFigures(): Promise<RequestFigures> {
  const prefix = nextPrefix();
  const nc = await connection();
  if (nc === undefined) throw new Error(`no NATS at ${SERVER}`);
  try {
    const manager = await jetstreamManager(nc);
    const js = jetstream(nc);
    const stream = `${prefix}-requests`;
    const subject = `${prefix}.requests`;
    await manager.streams.add({
      name: stream,
      subjects: [subject],
      retention: RetentionPolicy.Workqueue,
    });
    await manager.consumers.add(stream, { durable_name: "c", ack_policy: AckPolicy.Explicit });
    const buckets = new Kvm(js);
    const ids = await buckets.create(`${prefix}-ids`);
    const results = await buckets.create(`${prefix}-results`);
    const accept = async (): Promise<void> => {
      for (let n = 0; n < REQUESTS; n += AT_ONCE)
        await Promise.all(
          Array.from({ length: AT_ONCE }, async (_, i) => {
            const request = { requestId: `r${n + i}`, context: "x", task: "t" };
            await ids.create(request.requestId, "");
            await js.publish(subject, JSON.stringify(request));
          }),
        );
    };
    const consumer = await js.consumers.get(stream, "c");
    const consume = async (): Promise<number> => {
      for (let n = 0; n < REQUESTS / CONSUMERS; n++) {
        const message = await consumer.next();
        if (message === null) throw new Error("no request was delivered");
        const { requestId } = message.json<{ requestId: string }>();
        await results.create(requestId, JSON.stringify({ requestId, result: TEXT }));
        await message.ackAck();
      }
      return REQUESTS / CONSUMERS;
    };
    return await figuresOf(accept, consume);
  } finally {
    await nc.close();
    await drop(prefix);
  }
}
