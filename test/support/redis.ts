import { Redis } from "ioredis";
import type { Context } from "mocha";

/** The server of this machine that the tests may use. */
export const REDIS_URL = process.env["AGENTENSEMBLE_TEST_REDIS"] ?? "redis://127.0.0.1:6379";

async function onRedis<T>(work: (redis: Redis) => Promise<T>, url = REDIS_URL): Promise<T> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  redis.on("error", () => undefined); // the call reports it
  try {
    await redis.connect();
    return await work(redis);
  } finally {
    redis.disconnect();
  }
}

/** Skips the following tests if no server answers. */
export async function needRedis(test: Context): Promise<void> {
  try {
    await onRedis((redis) => redis.ping());
  } catch (error) {
    console.log(`      skipped: no Redis at ${new URL(REDIS_URL).host} (${String(error)})`);
    test.skip();
  }
}

/** The keys that begin with a prefix. */
export async function keysOf(prefix: string, url = REDIS_URL): Promise<readonly string[]> {
  return onRedis(async (redis) => {
    const keys: string[] = [];
    for await (const found of redis.scanStream({ match: `${prefix}:*`, count: 1_000 }))
      keys.push(...(found as string[])); // the stream has no type
    return keys;
  }, url);
}

/** Removes the keys that begin with a prefix. */
export async function removeKeys(prefix: string): Promise<void> {
  const keys = await keysOf(prefix);
  if (keys.length > 0) await onRedis((redis) => redis.unlink(...keys));
}
