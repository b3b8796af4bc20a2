import type {
  JournalCodec,
  JournalEntry,
  KeptEntry,
  KeptRun,
  RunResult,
  RunStart,
} from "../../../../contracts/journal.js";
import { JournalError } from "../../../../contracts/journal-errors.js";
import { parseJson } from "../../../../util/json/parse-json.js";
import { asFields } from "../../../../util/objects.js";

/** Returns the error for data that is not encrypted or was manipulated. */
function unsound(runId: string, what: string): JournalError {
  return new JournalError(`${what} of run '${runId}' is not what was sealed`, {
    hint: "It was kept without a key, or was changed by another program.",
  });
}

const sealedIn = (value: unknown): unknown => asFields(value)?.["sealed"];

/** Returns whether a run is from an encrypted journal, and has not been decrypted. */
export function isSealedRun({ inputs, inputsHash }: RunStart): boolean {
  return inputsHash === "" && typeof sealedIn(inputs) === "string";
}

/** @throws JournalError for an encrypted run. */
export function requireUnsealed(run: RunStart): void {
  if (!isSealedRun(run)) return;
  throw new JournalError(`Run '${run.runId}' is sealed, and there is no key to open it`, {
    hint: "Pass the encryptionKey with which it was kept.",
  });
}

/**
 * Encrypts and decrypts the parts of a run. Ids, keys, kinds, tasks, tags and counts stay
 * unchanged.
 */
export class RunSealer {
  readonly #codec: JournalCodec;

  constructor(codec: JournalCodec) {
    this.#codec = codec;
  }

  /** Returns the current JSON of an entry, so that later changes of the entry have no effect. */
  entryText({ key, kind, task, hash, covers, value }: JournalEntry): string {
    return JSON.stringify({ key, kind, task, hash, covers, value });
  }

  sealedEntry({ key, kind, task, covers }: JournalEntry, sealed: string): JournalEntry {
    return { key, kind, task, ...(covers !== undefined && { covers }), value: { sealed } };
  }

  async sealEntry(entry: JournalEntry, runId: string): Promise<JournalEntry> {
    return this.sealedEntry(entry, await this.#codec.seal(this.entryText(entry), runId));
  }

  /** @throws JournalError for an entry that is not encrypted, or was moved. */
  async openEntry(entry: KeptEntry, runId: string): Promise<KeptEntry> {
    const { key, kind, task, covers, at, execution } = entry;
    const opened = await this.#open(sealedIn(entry.value), runId, `Entry '${key}'`);
    const isSame =
      opened["key"] === key &&
      opened["kind"] === kind &&
      opened["task"] === task &&
      opened["covers"] === covers;
    if (!isSame) throw unsound(runId, `Entry '${key}'`);
    // `entryText()` created the data.
    return { ...(opened as unknown as JournalEntry), value: opened["value"], at, execution };
  }

  async sealStart(start: RunStart): Promise<RunStart> {
    const { runId, inputs, inputsHash } = start;
    const sealed = await this.sealText(JSON.stringify({ inputs, inputsHash }), runId);
    return { ...start, inputs: { sealed }, inputsHash: "" };
  }

  /** @throws JournalError for a run that is not encrypted. */
  async openRun(run: KeptRun): Promise<KeptRun> {
    const { runId, waitsFor, cancelReason, result } = run;
    const { inputs, inputsHash } = await this.#open(sealedIn(run.inputs), runId, "The start");
    if (typeof inputsHash !== "string") throw unsound(runId, "The start");
    return Object.freeze({
      ...run,
      inputs,
      inputsHash,
      ...(waitsFor !== undefined && { waitsFor: await this.openText(waitsFor, runId) }),
      ...(cancelReason !== undefined && { cancelReason: await this.openReason(cancelReason, runId) }), // prettier-ignore
      ...(result !== undefined && { result: await this.#openResult(result, runId) }),
    });
  }

  async sealResult(result: RunResult): Promise<RunResult> {
    const raw = await this.sealText(JSON.stringify(result), result.runId);
    const { runId, exitReason, metrics } = result;
    return { runId, exitReason, metrics, raw, taskOutputs: [] };
  }

  async #openResult({ raw, runId: of }: RunResult, runId: string): Promise<RunResult> {
    const opened = await this.#open(raw, of, "The result");
    if (typeof opened["raw"] !== "string") throw unsound(runId, "The result");
    return opened as unknown as RunResult; // created by sealResult()
  }

  async sealText(text: string, runId: string): Promise<string> {
    return this.#codec.seal(text, runId);
  }

  async openText(sealed: string, runId: string): Promise<string> {
    return this.#codec.open(sealed, runId);
  }

  /**
   * Returns the reason of a requested end. A process without the key may also request the end of a
   * run. A reason that can't be decrypted is not shown.
   */
  async openReason(sealed: string, runId: string): Promise<string> {
    try {
      return await this.openText(sealed, runId);
    } catch {
      return "cancelled by a process without the key";
    }
  }

  async #open(
    sealed: unknown,
    runId: string,
    what: string,
  ): Promise<Readonly<Record<string, unknown>>> {
    if (typeof sealed !== "string") throw unsound(runId, what);
    const fields = asFields(parseJson(await this.openText(sealed, runId)));
    if (fields === undefined) throw unsound(runId, what);
    return fields;
  }
}
