import type { KeptRuns } from "../contracts/journal.js";
import { ValidationError } from "../contracts/errors.js";
import { JournalError } from "../contracts/journal-errors.js";
import { shellWord } from "./shell-word.js";

const DEFAULT = "file:./.agentensemble";
const ADDRESS = "AGENTENSEMBLE_STORE";
const KEY = "AGENTENSEMBLE_STORE_KEY";

/** The option `--store` of all commands that use runs which are kept. */
export interface StoreArguments {
  readonly store?: string | undefined;
}

/** What `durable()` and `connectRuns()` take of a store. */
interface JournalAccess {
  readonly url: string;
  readonly encryptionKey?:
    { readonly current: string; readonly previous: readonly string[] } | undefined;
}

/** Where runs are kept: `--store`, else the variable AGENTENSEMBLE_STORE, else `.agentensemble` in the current folder. */
export class Store {
  /** May contain a password: for the journal alone. */
  readonly access: JournalAccess;
  /** Without a password. */
  readonly shown: string;
  /** What a command needs behind it to use the same store: nothing where variable or default give it. */
  readonly option: string;
  /** Whether an option or a variable names the store. */
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

  /** Does `work` with the runs of the store. @throws what `work` throws; ValidationError for an address of another form; JournalError. */
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

  /** The error, with what to do where it does not contain that. */
  explained(error: unknown): unknown {
    if (!JournalError.isInstance(error) || error.hint !== undefined) return error;
    return new JournalError(error.message, {
      cause: error,
      hint: `See what is wrong with the store: agentensemble doctor${this.option}`,
    });
  }
}

/** `--store`, else the variable AGENTENSEMBLE_STORE. */
export function addressGiven(
  { store }: StoreArguments,
  environment: NodeJS.ProcessEnv = process.env,
): string | undefined {
  const variable = environment[ADDRESS] ?? "";
  return store ?? (variable === "" ? undefined : variable);
}

/** The keys of AGENTENSEMBLE_STORE_KEY: the first one seals, all open. */
export function storeKeys(
  environment: NodeJS.ProcessEnv = process.env,
): Pick<JournalAccess, "encryptionKey"> {
  const [current, ...previous] = (environment[KEY] ?? "").split(",").filter((key) => key !== "");
  return current === undefined ? {} : { encryptionKey: { current, previous } };
}

const FORMS = "Use file:<folder>, pglite:<folder> or postgres://host:5432/database.";

/** The folder of all that is kept has the runs in `runs`; any other address is that of the runs themselves. */
function runsIn(url: string): string {
  return /^file:(?:.*\/)?\.agentensemble\/?$/s.test(url) ? `${url.replace(/\/$/, "")}/runs` : url;
}

/** The address as it may be shown. Of a server: user, host, port and path. */
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
