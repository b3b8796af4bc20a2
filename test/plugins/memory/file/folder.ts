import { join } from "node:path";
import type { MemoryEntry, SharedMemoryStore } from "agentensemble";
import { fileStore, type FileStoreOptions } from "../../../../src/plugins/memory/file/index.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";

/** A temporary folder for a test, and the stores that the test opens in it. */
export class MemoryFolder {
  readonly path: string;
  readonly file: string;
  readonly #opened: SharedMemoryStore[] = [];

  private constructor(path: string) {
    this.path = path;
    this.file = join(path, "memory.jsonl");
  }

  static async use(body: (folder: MemoryFolder) => Promise<void>): Promise<void> {
    const folder = new MemoryFolder(temporaryFolder());
    try {
      await body(folder);
    } finally {
      await folder.closeAll();
    }
  }

  async closeAll(): Promise<void> {
    for (const store of this.#opened.splice(0)) await store.close?.();
  }

  open(options?: FileStoreOptions, path = this.file): SharedMemoryStore {
    const store = fileStore(path, options);
    this.#opened.push(store);
    return store;
  }
}

export function entryOf(content: string): MemoryEntry {
  return { content, storedAt: new Date("2026-01-01T00:00:00.000Z") };
}

export async function contentsOf(
  store: SharedMemoryStore,
  scope = "s",
): Promise<readonly string[]> {
  return (await store.retrieve(scope, "", 100_000)).map(({ content }) => content);
}
