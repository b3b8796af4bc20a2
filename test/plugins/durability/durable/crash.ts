// A process that ends at a chosen write of its journal. Afterwards its calls receive no answer.
import type {
  ChatModel,
  ChatRequest,
  ChatResponse,
  EnsembleOptions,
  EnsembleOutput,
  Plugin,
  RunOptions,
  Tool,
} from "agentensemble";
import { Ensemble, RunCancelledError, tool } from "agentensemble";
import type { DurableOptions } from "agentensemble/durability";
import { Journal, durable } from "agentensemble/durability";
import type { ScriptedModel } from "agentensemble/testing";

type Entry = Parameters<Journal["append"]>[1];

/** The state outside of all processes. */
export class World {
  /** Time advances when a process dies, which ends its claim. */
  nowMs = Date.parse("2026-01-01T00:00:00Z");
  readonly journal = Journal.inMemory({ clock: { now: () => new Date(this.nowMs) } });
  /** Started model calls, each a paid call. */
  paidCalls = 0;
  /** The effects of tools, by idempotency key. */
  readonly done = new Map<string, string>();
  /** The number of each effect. */
  readonly effects: string[] = [];
  /** Reviews that were requested. */
  readonly asked: string[] = [];
  /** The external state of a team: a store, a counter. */
  readonly kept = new Map<string, unknown>();

  /** The same object for all processes. */
  outside<T>(name: string, make: () => T): T {
    if (!this.kept.has(name)) this.kept.set(name, make());
    return this.kept.get(name) as T; // of this name
  }
}

/** The time of a process's death: at which write, and whether the write is still executed. */
export interface Death {
  readonly write: number;
  readonly isWritten: boolean;
}

/** One process: models and tools work in it until it dies. */
export class Life {
  readonly #end = new AbortController();
  writes = 0;

  constructor(
    readonly world: World,
    readonly death?: Death,
  ) {}

  get signal(): AbortSignal {
    return this.#end.signal;
  }

  get isDead(): boolean {
    return this.signal.aborted;
  }

  die(): void {
    this.#end.abort(new RunCancelledError("the process has died"));
  }

  /** Never settles in a dead process. */
  async alive(): Promise<void> {
    if (this.isDead) await new Promise<never>(() => undefined);
  }

  /** A model whose calls are counted. */
  model(script: ScriptedModel): ChatModel {
    const call = async (request: ChatRequest): Promise<ChatResponse> => {
      await this.alive();
      this.world.paidCalls++;
      const response = await script.chat(request);
      await new Promise<void>((resolve) => setImmediate(resolve));
      await this.alive();
      return response;
    };
    return { provider: script.provider, modelId: script.modelId, chat: call };
  }

  /** A tool whose service knows idempotency keys. */
  pay(): Tool {
    return tool({
      name: "pay",
      description: "Pays",
      effect: "send",
      resume: "again",
      execute: async (amount, { idempotencyKey: key }) => {
        await this.alive();
        if (!this.world.done.has(key)) {
          this.world.done.set(key, amount);
          this.world.effects.push(key);
        }
        return `paid ${amount}`;
      },
    });
  }

  /** A tool that must not be called twice. */
  mail(): Tool {
    return tool({
      name: "mail",
      description: "Sends a mail",
      effect: "send",
      execute: async (text, { idempotencyKey: key }) => {
        await this.alive();
        this.world.done.set(key, text);
        this.world.effects.push(key);
        await this.alive();
        return `sent ${text}`;
      },
    });
  }

  /** The view of the journal in the process. */
  journal(): Journal {
    const { journal } = this.world;
    const ifAlive =
      <A extends readonly unknown[], R>(call: (...args: A) => Promise<R>) =>
      async (...args: A): Promise<R> => {
        await this.alive();
        const result = await call(...args);
        await this.alive();
        return result;
      };
    return {
      name: journal.name,
      reviews: journal.reviews,
      claim: ifAlive(async (request) => {
        const claim = await journal.claim(request);
        // Like a journal that omits entries of finished tasks.
        const covered = new Set(claim.entries.flatMap((e) => (e.covers === true ? [e.task] : [])));
        const kinds = ["call", "tool", "intent", "memory"];
        return {
          ...claim,
          entries: claim.entries.filter((e) => !(kinds.includes(e.kind) && covered.has(e.task))),
        };
      }),
      append: (claim, entry) => this.#append(() => journal.append(claim, entry), entry),
      renew: ifAlive((claim) => journal.renew(claim)),
      release: async (claim, end) => {
        if (!this.isDead) await journal.release(claim, end); // a dead process keeps its claim
      },
      get: (id) => journal.get(id),
      list: (filter) => journal.list(filter),
      entries: (id) => journal.entries(id),
      create: (start, entries, why) => journal.create(start, entries, why),
      amend: (id, entry) => journal.amend(id, entry),
      cancel: (id, reason) => journal.cancel(id, reason),
      delete: (id) => journal.delete(id),
      close: () => Promise.resolve(),
    };
  }

  async #append(write: () => Promise<void>, _entry: Entry): Promise<void> {
    await this.alive();
    const isLast = ++this.writes === this.death?.write;
    if (!isLast || this.death.isWritten) await write();
    if (isLast) {
      this.die();
      this.world.nowMs += 3_600_000;
    }
    await this.alive();
  }
}

/** A team in one process. */
export type Team = (
  life: Life,
  plugins: readonly Plugin[],
) => {
  run(inputs: Record<string, never>, options: RunOptions): Promise<EnsembleOutput>;
  dispose(): Promise<void>;
};

/** A team of an ensemble. */
export const teamOf =
  (make: (life: Life) => EnsembleOptions): Team =>
  (life, plugins) => {
    const options = make(life);
    return new Ensemble({ ...options, plugins: [...plugins, ...(options.plugins ?? [])] });
  };

export interface PlayOptions {
  readonly runId?: string;
  readonly durable?: DurableOptions;
  readonly run?: RunOptions;
}

/** One execution of the team's run. */
export async function play(team: Team, life: Life, o: PlayOptions = {}): Promise<EnsembleOutput> {
  const ensemble = team(life, [durable({ journal: life.journal(), ...o.durable })]);
  try {
    return await ensemble.run(
      {},
      {
        runId: o.runId ?? "r1",
        throwOnError: false,
        signal: life.signal,
        cancelGraceMs: 0,
        listeners: [{ on: () => undefined }], // so that warnings do not become those of the process
        ...o.run,
      },
    );
  } finally {
    await ensemble.dispose();
  }
}
