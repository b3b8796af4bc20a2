import { join } from "node:path";
import type { NetworkBackend, RequestQueue, ResultStore } from "../../../../contracts/network.js";
import type { Clock } from "../../../../contracts/runtime.js";
import type { LocalBackendOptions } from "../local-options.js";
import type { OpenFolder } from "./file-store.js";
import { AgentEnsembleError, ValidationError } from "../../../../contracts/errors.js";
import { NetworkError } from "../../../../contracts/network-errors.js";
import { preview, requireText } from "../../../../contracts/validation.js";
import { messageOf } from "../../../../util/errors.js";
import { systemClock } from "../../../../util/runtime.js";
import { LocalCatalogue } from "../local-catalogue.js";
import { localSettings } from "../local-options.js";
import { LocalTopics } from "../local-topics.js";

/** Options of `NetworkBackend.file()`. */
export interface FileBackendOptions extends Omit<LocalBackendOptions, "clock"> {
  /** A clock for tests. Default: the clock of the machine. */
  readonly clock?: Pick<Clock, "now" | "monotonicMs" | "sleep"> | undefined;
}

const DEFAULT_FOLDER = join(".agentensemble", "network");

/**
 * Requests and results in a folder.
 * @throws ValidationError for a blank folder, and for an unknown or invalid option.
 */
export function fileBackend(
  folder: string = DEFAULT_FOLDER,
  options: FileBackendOptions = {},
): NetworkBackend {
  requireText(folder, `folder must be the path of a folder, got: ${preview(folder)}`);
  if (folder.includes("\0"))
    throw new ValidationError(`folder must not contain a NUL character, got: ${preview(folder)}`);
  const { rules } = localSettings("NetworkBackend.file()", options);
  const clock = options.clock ?? systemClock;
  const opener = new FolderOpener(folder, async () => {
    const { openFolder } = await import("./file-store.js");
    return openFolder(folder, { clock, rules });
  });
  const topics = new LocalTopics();
  const catalogue = new LocalCatalogue(clock);
  return Object.freeze({
    name: "file",
    queue: queueOf(opener),
    results: resultsOf(opener),
    topics,
    catalogue,
    close: async () => {
      await Promise.all([topics.close(), catalogue.close()]);
      await opener.close();
    },
  });
}

/** Opens a folder at the first call. A failure is not cached, so that the next call tries again. */
class FolderOpener {
  readonly #folder: string;
  readonly #open: () => Promise<OpenFolder>;
  #opening: Promise<OpenFolder> | undefined;
  #closing: Promise<void> | undefined;

  constructor(folder: string, open: () => Promise<OpenFolder>) {
    this.#folder = folder;
    this.#open = open;
  }

  async opened(): Promise<OpenFolder> {
    if (this.#closing !== undefined)
      throw new NetworkError(`The backend in ${this.#folder} is closed`, {
        hint: "Close the backend after its services and callers.",
      });
    if (this.#opening === undefined) {
      const opening = this.#open();
      this.#opening = opening;
      opening.catch(() => {
        if (this.#opening === opening) this.#opening = undefined;
      });
    }
    try {
      return await this.#opening;
    } catch (cause) {
      if (AgentEnsembleError.isInstance(cause)) throw cause;
      throw new NetworkError(
        `The backend in ${this.#folder} can't be opened: ${messageOf(cause)}`,
        {
          cause,
          hint: "Choose a folder that this process may read and write.",
        },
      );
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const open = await this.#opening?.catch(() => undefined); // the callers received the error
    await open?.close();
  }
}

function queueOf(opener: FolderOpener): RequestQueue {
  const queue = async (): Promise<RequestQueue> => (await opener.opened()).queue;
  return Object.freeze<RequestQueue>({
    enqueue: async (...args) => (await queue()).enqueue(...args),
    dequeue: async (...args) => (await queue()).dequeue(...args),
    extend: async (...args) => (await queue()).extend(...args),
    acknowledge: async (lease) => (await queue()).acknowledge(lease),
    release: async (...args) => (await queue()).release(...args),
    deadLetter: async (...args) => (await queue()).deadLetter(...args),
    deadLetters: async (name) => (await queue()).deadLetters(name),
    redrive: async (...args) => (await queue()).redrive(...args),
    status: async (...args) => (await queue()).status(...args),
    depth: async (name) => (await queue()).depth(name),
    close: () => opener.close(),
  });
}

function resultsOf(opener: FolderOpener): ResultStore {
  const results = async (): Promise<ResultStore> => (await opener.opened()).results;
  return Object.freeze<ResultStore>({
    store: async (...args) => (await results()).store(...args),
    retrieve: async (id) => (await results()).retrieve(id),
    forget: async (id) => (await results()).forget(id),
    subscribe: async (...args) => (await results()).subscribe(...args),
    close: () => opener.close(),
  });
}
