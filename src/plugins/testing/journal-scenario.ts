import assert from "node:assert/strict";
import type {
  Claim,
  Journal,
  JournalEntry,
  KeptEntry,
  KeptRun,
  RunResult,
  RunStart,
} from "../../contracts/journal.js";
import type { Awaitable } from "../../contracts/types.js";
import { AgentEnsembleError } from "../../contracts/errors.js";

/**
 * A journal for a test of `journalContract`. The suite closes it with `close()`, then calls
 * `dispose`.
 */
export interface JournalUnderTest {
  /** Empty. */
  readonly journal: Journal;
  /** With `reopens`: opens the persisted data, after the suite has closed the journal. */
  readonly reopen?: (() => Awaitable<Journal>) | undefined;
  /**
   * With `shared`: a second object for the same storage, as in another process. The first object is
   * in use at the same time.
   */
  readonly another?: (() => Awaitable<Journal>) | undefined;
  /**
   * Makes the holder of a claim appear dead to others. For journals that do not use the time of the
   * lease. They may look up the process, which here is the process of the test.
   */
  readonly abandon?: ((claim: Claim) => Awaitable<void>) | undefined;
  /** Closes the objects of `reopen` and `another`, and removes data on disks and servers. */
  readonly dispose?: (() => Awaitable<void>) | undefined;
}

/** Options of `journalContract`, with the features of the journals. */
export interface JournalContractOptions {
  /** Called once per test. */
  create(): Awaitable<JournalUnderTest>;
  /** Whether its data outlive `close()`. Requires `reopen`. Default false. */
  readonly reopens?: boolean | undefined;
  /**
   * Whether several processes may use the storage concurrently. Requires `another`. Default false.
   */
  readonly shared?: boolean | undefined;
}

/** A journal in use by a test. */
export interface JournalScenario extends JournalUnderTest {
  /** The journal of another process: the second object if there is one, or else the first. */
  readonly other: Journal;
}

export type UseJournal = (body: (scenario: JournalScenario) => Promise<void>) => Promise<void>;

/** Longer than any test takes. */
const LONG_MS = 60_000;
/** The lease of a holder that will be dead, and the time of a claim that must fail. */
export const SHORT_MS = 50;

export const noSignal = (): AbortSignal => new AbortController().signal;

export function plannedStart(runId: string, o: Partial<RunStart> = {}): RunStart {
  const inputs = { topic: `of ${runId}` };
  return { runId, ensemble: "press", inputs, inputsHash: "h1", tags: {}, ...o };
}

/** Claims a run for longer than any test takes. */
export function claimRun(
  journal: Journal,
  start: RunStart | string,
  o: { readonly owner?: string; readonly leaseMs?: number } = {},
): Promise<Claim> {
  const { owner = "here:1", leaseMs = LONG_MS } = o;
  const whole = typeof start === "string" ? plannedStart(start) : start;
  return journal.claim({ start: whole, owner, leaseMs, signal: noSignal() });
}

/** Creates a claim whose process is dead after `work`. */
export async function claimOfTheDead(
  { journal, abandon }: JournalScenario,
  runId: string,
  work: (claim: Claim) => Promise<unknown> = async () => undefined,
): Promise<Claim> {
  const claim = await claimRun(journal, runId, { owner: "dead:1", leaseMs: SHORT_MS });
  await work(claim);
  await abandon?.(claim);
  return claim;
}

export function entryNamed(key: string, o: Partial<JournalEntry> = {}): JournalEntry {
  return { key, kind: "step", task: "t@1", value: `value of ${key}`, ...o };
}

/** Writes entries with these keys in sequence. */
export async function writeEntries(
  journal: Journal,
  claim: Claim,
  entries: readonly (string | JournalEntry)[],
): Promise<void> {
  for (const entry of entries)
    await journal.append(claim, typeof entry === "string" ? entryNamed(entry) : entry);
}

export const keysIn = (entries: readonly KeptEntry[]): readonly string[] =>
  entries.map(({ key }) => key);

/** Returns the run, which must be stored. */
export async function keptRun(journal: Journal, runId: string): Promise<KeptRun> {
  return (await journal.get(runId)) ?? assert.fail(`run '${runId}' is not kept`);
}

/** Returns the entry, which must be stored. */
export async function keptEntry(journal: Journal, runId: string, key: string): Promise<KeptEntry> {
  const found = (await journal.entries(runId)).find((entry) => entry.key === key);
  return found ?? assert.fail(`entry '${key}' of run '${runId}' is not kept`);
}

/** Converts a value to plain JSON data: without undefined fields and classes. */
export const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/**
 * Fails unless `work` rejects with an error of the framework that has this code. Returns that
 * error.
 */
export async function rejectsWith(
  code: string,
  work: () => Promise<unknown>,
): Promise<AgentEnsembleError> {
  const error = await work().then(
    () => assert.fail(`expected ${code}, but the call succeeded`),
    (thrown: unknown) => thrown,
  );
  if (!AgentEnsembleError.isInstance(error)) throw error;
  assert.equal(error.code, code);
  return error;
}

export const RESULT: RunResult = {
  runId: "r",
  exitReason: "COMPLETED",
  raw: "the end \u2028",
  taskOutputs: [{ taskId: "t", agentRole: "Writer", raw: "the end", parsed: { a: [1, null] } }],
  metrics: { inputTokens: 3, outputTokens: 4, totalTokens: 7, llmCallCount: 1, toolCallCount: -1 },
  error: { code: "AE_TASK_EXECUTION", message: "odd", hint: "look" },
};

export function assertInstant(text: string): void {
  assert.equal(new Date(text).toISOString(), text, `'${text}' is not an ISO instant`);
}
