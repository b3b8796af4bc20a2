import type { KeptRuns } from "../contracts/journal.js";
import { ValidationError } from "../contracts/errors.js";
import { JournalError } from "../contracts/journal-errors.js";
import { shellWord } from "./shell-word.js";

const DEFAULT = "file:./.agentensemble";
const ADDRESS = "AGENTENSEMBLE_STORE";
const KEY = "AGENTENSEMBLE_STORE_KEY";

/** The option `--store` of all commands of stored runs. */
export interface StoreArguments {
  readonly store?: string | undefined;
}

/** The options of a store for `durable()` and `connectRuns()`. */
interface JournalAccess {
  readonly url: string;
  readonly encryptionKey?:
    { readonly current: string; readonly previous: readonly string[] } | undefined;
}

/**
 * The location of runs: `--store`, the variable AGENTENSEMBLE_STORE, or `.agentensemble` in the
 * current folder.
 */
export class Store {
  /** The complete access data, only for the journal. May contain a password. */
  readonly access: JournalAccess;
  /** The address without a password. */
  readonly shown: string;
  /**
   * The option with which another command uses the same store. Empty if the store comes from the
   * variable or the default.
   */
  readonly option: string;
  /** Whether an option or a variable sets the store. */
  readonly isNamed: boolean;

  /** @throws ValidationError for a blank address. */
  constructor({ store }: StoreArguments, environment: NodeJS.ProcessEnv = process.env) {
    const given = addressGiven({ store }, environment);
    const url = given ?? DEFAULT;
    if (url.trim() === "") throw new ValidationError("--store must not be blank", { hint: FORMS });
    this.access = { url: runsIn(url), ...storeKeys(environment) };
    this.shown = withoutPassword(url);
    this.option = store === undefined ? "" : ` --store ${shellWord(this.shown)}`;
    this.isNamed = given !== undefined;
  }

  /**
   * Executes `work` with the runs of the store.
   * @throws the errors of `work`; ValidationError for an invalid address; JournalError.
   */
  async use<T>(work: (runs: KeptRuns) => Promise<T>): Promise<T> {
    const { connectRuns } = await import("../durability.js"); // other commands do not load it
    const { url, ...keys } = this.access;
    const runs = await connectRuns(url, keys);
    try {
      return await work(runs);
    } catch (error) {
      throw this.explained(error);
    } finally {
      await runs[Symbol.asyncDispose]();
    }
  }

  /** Returns the error. Adds advice to an error without advice. */
  explained(error: unknown): unknown {
    if (!JournalError.isInstance(error) || error.hint !== undefined) return error;
    return new JournalError(error.message, {
      cause: error,
      hint: `See what is wrong with the store: agentensemble doctor${this.option}`,
    });
  }
}

/** Returns `--store`, otherwise the variable AGENTENSEMBLE_STORE. */
export function addressGiven(
  { store }: StoreArguments,
  environment: NodeJS.ProcessEnv = process.env,
): string | undefined {
  const variable = environment[ADDRESS] ?? "";
  return store ?? (variable === "" ? undefined : variable);
}

/** Returns the keys of AGENTENSEMBLE_STORE_KEY. The first key encrypts. All keys decrypt. */
export function storeKeys(
  environment: NodeJS.ProcessEnv = process.env,
): Pick<JournalAccess, "encryptionKey"> {
  const [current, ...previous] = (environment[KEY] ?? "").split(",").filter((key) => key !== "");
  return current === undefined ? {} : { encryptionKey: { current, previous } };
}

const FORMS = "Use file:<folder>, pglite:<folder> or postgres://host:5432/database.";

/**
 * Returns the address of the runs. In the common folder, the runs are in `runs`. Any other address
 * contains the runs directly.
 */
function runsIn(url: string): string {
  return /^file:(?:.*\/)?\.agentensemble\/?$/s.test(url) ? `${url.replace(/\/$/, "")}/runs` : url;
}

/** Returns the address without a password. For a server: user, host, port and path. */
function withoutPassword(url: string): string {
  if (/^(?:file|pglite):/.test(url)) return url;
  try {
    const { protocol, username, password, host, pathname } = new URL(url);
    const user = username === "" ? "" : `${username}${password === "" ? "" : ":***"}@`;
    return `${protocol}//${user}${host}${pathname}`;
  } catch {
    return /^[a-z][a-z\d+.-]*:/i.exec(url)?.[0] ?? "(an address without a scheme)";
  }
}
