import type {
  RateRequest,
  RateTurn,
  RateWait,
  RateWindow,
  WindowLimit,
} from "../../../contracts/rate-window.js";
import type { RedisLink } from "./redis-link.js";
import type { RedisNames } from "./redis-names.js";
import { uuidGenerator } from "../../../util/runtime.js";
import { REPORT_TURN, TAKE_TURN } from "./rate-scripts.js";

/** Time in ms after which a place that has not begun is released, because its process has died. */
const UNBEGUN_MS = 60_000;
/** Time in ms for which the tokens of a call in flight are reserved. */
const CALL_MS = 15 * 60_000;

type Report = "begin" | "end" | "leave";

/** Windows in Redis, shared by the calls of all processes. They use the clock of Redis. */
export class RedisRateWindow implements RateWindow {
  readonly #link: RedisLink;
  readonly #names: RedisNames;
  /** Reports of calls of this process. Later calls wait for them. */
  readonly #reports = new Set<Promise<void>>();

  constructor(link: RedisLink, names: RedisNames) {
    this.#link = link;
    this.#names = names;
  }

  async take({ limits, tokens }: RateRequest): Promise<RateTurn | RateWait> {
    await Promise.all(this.#reports);
    const turn = uuidGenerator.next();
    const keys = limits.flatMap(({ key }) => this.#names.rateWindow(key));
    const numbers = limits.flatMap(({ limit }) => [
      limit.requests,
      limit.periodMs,
      limit.tokens ?? "",
    ]);
    const waits = await this.#link.use(async ({ redis }) => {
      const args = [...keys, turn, tokens, UNBEGUN_MS, CALL_MS, ...numbers];
      // The script returns texts.
      return (await redis.eval(TAKE_TURN, keys.length, ...args)) as readonly string[];
    });
    if (waits.length === 0) return this.#turn(turn, { keys, limits, tokens });
    const ms = (text: string | undefined): number =>
      text === undefined || text === "" ? Number.POSITIVE_INFINITY : Number(text);
    return {
      waits: limits.map((_, n) => ({ openMs: ms(waits[2 * n]), atLeastMs: ms(waits[2 * n + 1]) })),
    };
  }

  #turn(
    turn: string,
    o: {
      readonly keys: readonly string[];
      readonly limits: readonly WindowLimit[];
      readonly tokens: number;
    },
  ): RateTurn {
    let reports = Promise.resolve();
    let hasBegun = false;
    const periods = o.limits.map(({ limit }) => limit.periodMs);
    const report = (what: Report, used: number): void => {
      reports = reports
        .then(() =>
          this.#link.use(async ({ redis }) => {
            const args = [...o.keys, turn, o.tokens, what, used, CALL_MS, CALL_MS, ...periods];
            await redis.eval(REPORT_TURN, o.keys.length, ...args);
          }),
        )
        .catch(() => undefined); // the place stays reserved until the limit for dead processes
      this.#track(reports);
    };
    return {
      begin() {
        hasBegun = true;
        report("begin", 0);
      },
      end: (usedTokens) => report(hasBegun ? "end" : "leave", usedTokens),
    };
  }

  /** Records a report until it has ended. `report` does not reject. */
  #track(report: Promise<void>): void {
    this.#reports.add(report);
    void report.then(() => this.#reports.delete(report));
  }
}
