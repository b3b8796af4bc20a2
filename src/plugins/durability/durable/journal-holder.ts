import type { EnsembleAccess } from "../../../contracts/ensemble-access.js";
import type { Journal, JournalCodec } from "../../../contracts/journal.js";
import type { PluginContext } from "../../../contracts/plugin.js";
import type { DurableOptions } from "./durable-options.js";
import type { RunsSource } from "./durable-runs.js";
import { ValidationError } from "../../../contracts/errors.js";
import { Tokens } from "../../../contracts/tokens.js";
import { openJournal } from "../shared/open-journal.js";
import { aesJournalCodec } from "../shared/sealed/aes-journal-codec.js";
import { sealedJournal } from "../shared/sealed/sealed-journal.js";

/** The default address of the journal. */
const DEFAULT_URL = "file:./.agentensemble/runs";

/**
 * The journal of a `durable()`. It is opened on first use, encrypted if there is a codec, and
 * closed with the last kernel.
 */
export class JournalHolder implements RunsSource {
  readonly ensembles = new Map<string, EnsembleAccess>();
  /** The codec of `encryptionKey`. */
  readonly codec: JournalCodec | undefined;
  readonly #given: Journal | undefined;
  readonly #url: string;
  #opened: Journal | undefined;
  #sealed: Journal | undefined;
  #usedCodec: JournalCodec | undefined;
  #kernels = 0;
  #isClosed = false;

  /** @throws ValidationError for an invalid key, and for an invalid address. */
  constructor({ journal, url = DEFAULT_URL, encryptionKey }: DurableOptions) {
    this.#given = journal;
    this.#url = url;
    this.codec =
      encryptionKey === undefined
        ? undefined
        : aesJournalCodec(
            typeof encryptionKey === "string" ? { current: encryptionKey } : encryptionKey,
          );
    this.#usedCodec = this.codec;
    if (journal === undefined) this.#opened = openJournal(url);
  }

  get isSealed(): boolean {
    return this.#usedCodec !== undefined;
  }

  /** @throws ValidationError after the last kernel was disposed. */
  get journal(): Journal {
    if (this.#isClosed)
      throw new ValidationError("durable() was disposed with its kernel", {
        hint: "Use connectRuns(url) for runs that are kept.",
      });
    const raw = this.#given ?? (this.#opened ??= openJournal(this.#url));
    if (this.#usedCodec === undefined) return raw;
    return (this.#sealed ??= sealedJournal(raw, this.#usedCodec));
  }

  /** Called when a kernel begins to use the journal. */
  open(): void {
    this.#kernels++;
    this.#isClosed = false;
  }

  /**
   * Sets the codec of the kernel. A codec that a user bound takes precedence over that of
   * `encryptionKey`.
   */
  sealBy(ctx: PluginContext): void {
    const codec = codecOf(ctx);
    if (codec === this.#usedCodec) return;
    this.#usedCodec = codec;
    this.#sealed = undefined;
  }

  async close(): Promise<void> {
    if (--this.#kernels > 0) return;
    const opened = this.#opened;
    this.#opened = this.#sealed = undefined;
    this.#isClosed = true;
    this.ensembles.clear();
    await opened?.close();
  }
}

/**
 * Returns the bound codec. Bindings were resolved at the start, so only an unbound token has no
 * value.
 */
function codecOf(ctx: PluginContext): JournalCodec | undefined {
  try {
    return ctx.get(Tokens.JournalCodec);
  } catch {
    return undefined;
  }
}
