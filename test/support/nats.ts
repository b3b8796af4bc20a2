import { randomUUID } from "node:crypto";
import type { Context } from "mocha";
import { connect } from "@nats-io/transport-node";
import { jetstreamManager } from "@nats-io/jetstream";

/** The server of this machine that the tests may use: NATS with JetStream. */
export const NATS_URL = process.env["AGENTENSEMBLE_TEST_NATS"] ?? "nats://127.0.0.1:4222";

/** A prefix that only this process uses. */
export function natsPrefix(): string {
  return `t${randomUUID().slice(0, 18)}`;
}

/** Skips the following tests if no server answers. */
export async function needNats(test: Context): Promise<void> {
  try {
    await onNats(async (manager) => manager.getAccountInfo());
  } catch (error) {
    console.log(`      skipped: no NATS with JetStream at ${NATS_URL} (${String(error)})`);
    test.skip();
  }
}

/** Uses the administration of the server. */
export async function onNats<T>(
  work: (manager: Awaited<ReturnType<typeof jetstreamManager>>) => Promise<T>,
  url = NATS_URL,
): Promise<T> {
  const connection = await connect({ servers: new URL(url).host, timeout: 5_000 });
  try {
    return await work(await jetstreamManager(connection));
  } finally {
    await connection.close();
  }
}

/** Removes all streams and buckets of a prefix. */
export async function dropNats(prefix: string): Promise<void> {
  await onNats(async (manager) => {
    const names = await manager.streams.names().next();
    const own = names.filter((name) => name.replace(/^KV_/, "").startsWith(`${prefix}-`));
    await Promise.all(own.map((name) => manager.streams.delete(name)));
  });
}
