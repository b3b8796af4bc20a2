import type { ResultStore, WorkResponse } from "../../../contracts/network.js";
import type { QueueClock } from "../shared/clock-timer.js";
import type { RedisLink } from "./redis-link.js";
import type { RedisNames } from "./redis-names.js";
import { ValidationError } from "../../../contracts/errors.js";
import { preview, requireDuration, requireFunction } from "../../../contracts/validation.js";
import { deepFreeze, isObject } from "../../../util/objects.js";
import { uuidGenerator } from "../../../util/runtime.js";
import { jsonOf } from "../../shared/json-data.js";
import { startClockTimer } from "../shared/clock-timer.js";
import { requireRequestId } from "../shared/work-request.js";

type ResultListener = (response: WorkResponse) => void;

/** Time in ms after which subscribers read again, because messages of Redis may get lost. */
const LOOK_AGAIN_MS = 2_000;

/** Stores the first result, and wakes its waiters. */
const KEEP = `if redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2], "NX") then
  redis.call("PUBLISH", KEYS[1], "")
  return 1
end
return 0`;

/** Results as keys of Redis that expire. The first result is kept. */
export class RedisResults implements ResultStore {
  readonly #link: RedisLink;
  readonly #names: RedisNames;
  readonly #clock: QueueClock;

  constructor(link: RedisLink, names: RedisNames, clock: QueueClock) {
    this.#link = link;
    this.#names = names;
    this.#clock = clock;
  }

  async store(requestId: string, response: WorkResponse, ttlMs: number): Promise<boolean> {
    requireRequestId(requestId);
    requireDuration("store() ttlMs", ttlMs ?? null);
    if (!isObject(response))
      throw new ValidationError(`A result must be an object, got: ${preview(response)}`);
    // After a broken connection, the id of this call shows whose result was stored.
    const call = uuidGenerator.next();
    const json = jsonOf("A result", { call, response });
    const key = this.#names.result(requestId);
    return this.#link.use(async ({ redis }) => {
      const kept = await redis.eval(KEEP, 1, key, json, Math.ceil(ttlMs));
      return kept === 1 || keptIn(await redis.get(key))?.call === call;
    });
  }

  async retrieve(requestId: string): Promise<WorkResponse | undefined> {
    const key = this.#names.result(requestId);
    return this.#link.use(async ({ redis }) => keptIn(await redis.get(key))?.response);
  }

  async forget(requestId: string): Promise<void> {
    await this.#link.use(({ redis }) => redis.del(this.#names.result(requestId)));
  }

  async subscribe(requestId: string, callback: ResultListener): Promise<() => void> {
    requireFunction("subscribe() callback", callback ?? null);
    let [leave, stop] = [(): void => undefined, (): void => undefined];
    let hasEnded = false;
    const end = (): void => {
      hasEnded = true;
      stop();
      leave();
    };
    const look = async (): Promise<void> => {
      if (hasEnded) return;
      const response = await this.retrieve(requestId);
      // Another read may have ended the subscription since.
      if (response === undefined || hasEnded) return;
      end();
      callback(response);
    };
    const lookLater = (): void => {
      stop();
      if (hasEnded || this.#link.isClosed) return;
      stop = startClockTimer(this.#clock, LOOK_AGAIN_MS, () => void lookQuietly());
    };
    const lookQuietly = async (): Promise<void> => {
      try {
        await look();
      } catch {
        // An unavailable store is read again. A failing subscriber must not affect other
        // subscribers.
      } finally {
        lookLater();
      }
    };
    const key = this.#names.result(requestId);
    const leaveChannel = await this.#link.use(({ channels }) =>
      channels.listen(key, () => void lookQuietly()),
    );
    const forgetClose = this.#link.beforeClose(async () => end());
    leave = (): void => {
      leaveChannel();
      forgetClose();
    };
    if (hasEnded) leave(); // a message has ended the subscription
    await lookQuietly();
    return end;
  }

  close(): Promise<void> {
    return this.#link.close();
  }
}

interface AnsweredResult {
  readonly call: string;
  readonly response: WorkResponse;
}

/** Parses the content of a key that `store` wrote. */
function keptIn(json: string | null): AnsweredResult | undefined {
  return json === null ? undefined : deepFreeze(JSON.parse(json) as AnsweredResult);
}
