import type {
  Journal,
  JournalEntry,
  KeptEntry,
  KeptRun,
  KeptRuns,
  RunFilter,
  RunPage,
} from "../../../contracts/journal.js";
import { ValidationError } from "../../../contracts/errors.js";
import { RunInUseError } from "../../../contracts/journal-errors.js";
import { requireBoolean } from "../../../contracts/validation.js";
import { asFields } from "../../../util/objects.js";
import { uuidGenerator } from "../../../util/runtime.js";
import { entriesBefore } from "./fork-entries.js";
import { poisonOf } from "./poisoned-runs.js";
import { requireUnsealed } from "./sealed/sealed-data.js";

type Filter = NonNullable<Parameters<KeptRuns["list"]>[0]>;

/** Page size of the list of runs to delete. */
const PAGE = 500;
const ASKED_FOR = "cancelled on request";

/** The runs of a journal, and the operations on them for any process. */
export class JournalRuns implements KeptRuns {
  readonly #journal: () => Journal;

  constructor(journal: () => Journal) {
    this.#journal = journal;
  }

  get reviews(): KeptRuns["reviews"] {
    const journal = this.#journal;
    return {
      pending: () => journal().reviews.pending(),
      resolve: (reviewId, decision) => journal().reviews.resolve(reviewId, decision),
    };
  }

  async get(runId: string): Promise<KeptRun | undefined> {
    return this.#journal().get(runId);
  }

  async list({ poisoned, ...filter }: Filter = {}): Promise<RunPage> {
    requireBoolean("poisoned", poisoned);
    return poisoned === true ? this.#poisoned(filter) : this.#journal().list(filter);
  }

  /** Returns the first page that has poisoned runs. */
  async #poisoned(filter: RunFilter): Promise<RunPage> {
    const journal = this.#journal();
    if (filter.status !== undefined && filter.status !== "running") return { runs: [] };
    for (let { after } = filter; ;) {
      const page = await journal.list({
        ...filter,
        status: "running",
        ...(after !== undefined && { after }),
      });
      const runs: KeptRun[] = [];
      for (const run of page.runs) if ((await poisonOf(run, journal)) !== undefined) runs.push(run);
      after = page.next;
      if (after === undefined) return { runs };
      if (runs.length > 0) return { runs, next: after };
    }
  }

  async entries(runId: string): Promise<readonly KeptEntry[]> {
    return this.#journal().entries(runId);
  }

  async cancel(runId: string, reason = ASKED_FOR): Promise<boolean> {
    return this.#journal().cancel(runId, reason);
  }

  async settle(
    runId: string,
    key: string,
    how: { readonly result: string } | "again",
  ): Promise<void> {
    const journal = this.#journal();
    const { kind, ...entry } = await this.#doubtful(runId, key);
    if (how === "again") {
      const value = { ...asFields(entry.value), settled: "again" };
      return journal.amend(runId, { ...written(entry), kind, value });
    }
    if (typeof how !== "object" || typeof how.result !== "string")
      throw new ValidationError('settle() takes { result } or "again"');
    const value = { ok: true, output: how.result };
    return journal.amend(runId, { ...written(entry), kind: "tool", value });
  }

  async fork(
    runId: string,
    o: { readonly runId?: string | undefined; readonly from?: string | undefined } = {},
  ): Promise<string> {
    const journal = this.#journal();
    const record = await this.#known(runId);
    const forked = o.runId ?? uuidGenerator.next();
    const entries = entriesBefore(await journal.entries(runId), o.from, runId);
    const { ensemble, inputs, inputsHash, tags } = record;
    await journal.create(
      { runId: forked, ensemble, inputs, inputsHash, tags },
      entries.map((entry) => renamed(entry, runId, forked)),
      `Forked from run '${runId}'`,
    );
    return forked;
  }

  async delete(runId: string): Promise<boolean> {
    return this.#journal().delete(runId);
  }

  async deleteAll(filter: Omit<Filter, "after" | "limit">): Promise<number> {
    const { poisoned, ...others } = filter;
    if (poisoned !== true && !Object.values(others).some((value) => value !== undefined))
      throw new ValidationError("deleteAll() needs a filter", {
        hint: 'Name what is deleted, for instance { status: "completed" }.',
      });
    let count = 0;
    let after: string | undefined;
    do {
      const page: RunPage = await this.list({
        ...filter,
        limit: PAGE,
        ...(after !== undefined && { after }),
      });
      for (const { runId } of page.runs) if (await this.#deleted(runId)) count++;
      after = page.next;
    } while (after !== undefined);
    return count;
  }

  /** Deletes a run that no process executes. */
  async #deleted(runId: string): Promise<boolean> {
    try {
      return await this.#journal().delete(runId);
    } catch (error) {
      if (RunInUseError.isInstance(error)) return false;
      throw error;
    }
  }

  /** @throws ValidationError for an unknown run; JournalError for an encrypted one. */
  async #known(runId: string): Promise<KeptRun> {
    const record = await this.#journal().get(runId);
    if (record === undefined) throw new ValidationError(`There is no run '${runId}'`);
    requireUnsealed(record);
    return record;
  }

  /** @throws ValidationError for a call that is not in doubt. */
  async #doubtful(runId: string, key: string): Promise<KeptEntry> {
    await this.#known(runId);
    const intents = (await this.#journal().entries(runId)).filter(({ kind }) => kind === "intent");
    const keyOf = ({ value }: KeptEntry): unknown => asFields(value)?.["idempotencyKey"];
    const entry = intents.find((intent) => keyOf(intent) === key);
    if (entry !== undefined) return entry;
    const known = intents.map((intent) => String(keyOf(intent)));
    throw new ValidationError(`Call '${key}' of run '${runId}' is not in doubt`, {
      hint: known.length === 0 ? "No call of the run is." : `In doubt are: ${known.join(", ")}.`,
    });
  }
}

function written({
  key,
  task,
  hash,
}: Omit<KeptEntry, "kind">): Omit<JournalEntry, "kind" | "value"> {
  return { key, task, ...(hash !== undefined && { hash }) };
}

/**
 * Returns an entry for the fork. Replaces the id of the run at the start of its idempotency key.
 */
function renamed(
  { at: _, execution: __, ...entry }: KeptEntry,
  from: string,
  to: string,
): JournalEntry {
  const fields = asFields(entry.value);
  const key = fields?.["idempotencyKey"];
  if (entry.kind !== "intent" || typeof key !== "string") return entry;
  return { ...entry, value: { ...fields, idempotencyKey: `${to}${key.slice(from.length)}` } };
}
