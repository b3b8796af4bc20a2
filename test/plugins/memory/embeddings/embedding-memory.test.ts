import { expect } from "chai";
import type {
  EmbeddingModel,
  StoredVector,
  VectorMatch,
  VectorStore,
} from "../../../../src/contracts/embedding.js";
import type { MemoryEntry } from "../../../../src/contracts/memory.js";
import { LongTermMemory, MemoryStore } from "../../../../src/ensemble/factories.js";
import { ModelCallError, ValidationError } from "../../../../src/contracts/errors.js";
import { MemoryStoreError } from "../../../../src/contracts/state-errors.js";
import { hashedBagOfWords } from "../../../../src/plugins/memory/embeddings/index.js";
import { memoryStoreContract } from "../../../../src/testing.js";
import { rejectionOf } from "../../../support/rejection.js";

const entry = (content: string, more: Partial<MemoryEntry> = {}): MemoryEntry => ({
  content,
  storedAt: new Date(1_767_225_600_123),
  ...more,
});
const texts = (entries: readonly MemoryEntry[]): readonly string[] =>
  entries.map(({ content }) => content);

/** A model whose vectors a test chooses, and which counts its requests. */
function fixedModel(
  vectors: Readonly<Record<string, unknown>>,
): EmbeddingModel & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    async embed(all) {
      asked.push(...all);
      return all.map((text) => vectors[text] as readonly number[]); // wrong on purpose in some tests
    },
  };
}

/** The smallest vector store of a user for a database. */
class ListedVectors implements VectorStore {
  readonly rows: { scope: string; vector: readonly number[]; row: StoredVector }[] = [];
  closed = false;
  #ids = 0;
  async add(scope: string, stored: MemoryEntry, vector: readonly number[]): Promise<void> {
    this.rows.push({ scope, vector, row: { id: `row ${++this.#ids}`, entry: stored } });
  }
  async search(
    scope: string,
    vector: readonly number[],
    maxResults: number,
  ): Promise<readonly VectorMatch[]> {
    const scored = this.rows
      .filter((row) => row.scope === scope)
      .map(({ row, vector: v }) => ({
        ...row,
        score: v.reduce((sum, n, i) => sum + n * (vector[i] ?? 0), 0),
      }));
    return scored.sort((a, b) => b.score - a.score).slice(0, maxResults);
  }
  async list(scope: string): Promise<readonly StoredVector[]> {
    return this.rows.filter((row) => row.scope === scope).map(({ row }) => row);
  }
  async delete(scope: string, ids: readonly string[]): Promise<void> {
    this.rows.splice(
      0,
      Infinity,
      ...this.rows.filter(({ scope: s, row }) => s !== scope || !ids.includes(row.id)),
    );
  }
  async close(): Promise<void> {
    this.closed = true;
  }
}

memoryStoreContract("MemoryStore.embeddings(model)", {
  create: () => ({ store: MemoryStore.embeddings(hashedBagOfWords()) }),
  semantic: true,
  shared: true,
});

memoryStoreContract("MemoryStore.embeddings(model, vectorStore)", {
  create: () => ({
    store: MemoryStore.embeddings(hashedBagOfWords({ dimensions: 64 }), new ListedVectors()),
  }),
  semantic: true,
});

describe("MemoryStore.embeddings", () => {
  it("returns the nearest entries first, and the latest of equally near entries", async () => {
    const store = MemoryStore.embeddings(
      fixedModel({
        east: [1, 0],
        "far east": [5, 0],
        north: [0, 2],
        "north-east": [3, 3],
        west: [-1, 0],
      }),
    );
    for (const text of ["north", "east", "north-east", "far east", "west"])
      await store.store("s", entry(text));
    expect(texts(await store.retrieve("s", "east", 10))).to.deep.equal([
      "far east",
      "east",
      "north-east",
      "north",
      "west",
    ]);
    expect(texts(await store.retrieve("s", "north", 2))).to.deep.equal(["north", "north-east"]);
  });

  it("returns the latest entries for a blank question, oldest first, without a model call", async () => {
    const model = fixedModel({ a: [1, 0], b: [0, 1], c: [1, 1] });
    const store = MemoryStore.embeddings(model);
    for (const text of ["a", "b", "c"]) await store.store("s", entry(text));
    expect(texts(await store.retrieve("s", " \n", 2))).to.deep.equal(["b", "c"]);
    expect(model.asked).to.deep.equal(["a", "b", "c"]);
  });

  it("omits entries below minScore", async () => {
    const vectors = { east: [1, 0], north: [0, 1], "north-east": [1, 1] };
    for (const vectorStore of [undefined, new ListedVectors()] as const) {
      const store = MemoryStore.embeddings(fixedModel(vectors), vectorStore as undefined, {
        minScore: 0.5,
      });
      for (const text of ["north", "east", "north-east"]) await store.store("s", entry(text));
      expect(texts(await store.retrieve("s", "east", 10))).to.have.members(["east", "north-east"]);
      expect(await store.retrieve("s", "", 10)).to.have.length(3);
    }
  });

  it("calls the model once for a repeated question, also concurrently, and again after a failure", async () => {
    const model = fixedModel({ q: [1, 0] });
    const store = MemoryStore.embeddings(model);
    await Promise.all(["a", "b", "c"].map((scope) => store.retrieve(scope, "q", 5)));
    await store.retrieve("a", "q", 1);
    expect(model.asked).to.deep.equal(["q"]);
    for (const time of [1, 2]) {
      await rejectionOf(MemoryStoreError, store.retrieve("a", "unknown", 1));
      expect(model.asked.length).to.equal(1 + time);
    }
  });

  it("returns the same entries as before after other entries were evicted", async () => {
    const model = hashedBagOfWords({ dimensions: 16 });
    const names = Array.from({ length: 40 }, (_, i) => `entry number ${i} of all`);
    const store = MemoryStore.embeddings(model);
    const fresh = MemoryStore.embeddings(model);
    for (const name of names) await store.store("s", entry(name));
    const staying = names.filter((_, i) => i % 7 > 2 && i !== 39);
    await store.evict("s", {
      apply: (entries) => entries.filter(({ content }) => staying.includes(content)),
    });
    for (const name of staying) await fresh.store("s", entry(name));
    for (const name of names)
      expect(texts(await store.retrieve("s", name, 40))).to.deep.equal(
        texts(await fresh.retrieve("s", name, 40)),
      );
  });

  it("searches many entries without blocking the event loop, and finds the same entries as a sort", async () => {
    const vectors = Array.from({ length: 3_000 }, (_, i) => [
      Math.sin(i * 12.9),
      Math.cos(i * 78.2),
      Math.sin(i * i),
    ]);
    const model: EmbeddingModel = {
      embed: async (all) => all.map((text) => vectors[Number(text)] ?? []),
    };
    const store = MemoryStore.embeddings(model);
    for (const i of vectors.keys()) await store.store("s", entry(String(i)));
    const [x = 0, y = 0, z = 0] = vectors[7] ?? [];
    const score = ([a = 0, b = 0, c = 0]: readonly number[]): number =>
      (a * x + b * y + c * z) / Math.hypot(a, b, c);
    const best = [...vectors.entries()]
      .sort(([, a], [, b]) => score(b) - score(a))
      .map(([i]) => String(i));
    for (const count of [1, 10, 600, 3_000])
      expect(texts(await store.retrieve("s", "7", count)).length).to.equal(count);
    expect(texts(await store.retrieve("s", "7", 10))).to.deep.equal(best.slice(0, 10));
    expect(new Set(texts(await store.retrieve("s", "7", 600)))).to.deep.equal(
      new Set(best.slice(0, 600)),
    );
  });

  describe("refuses invalid vectors of a model", () => {
    const given: Readonly<Record<string, [unknown, RegExp]>> = {
      "a value that is not a list": ["vectors", /no list of vectors/],
      "a value that is not a vector": [[], /0 vectors for 1 text/],
      "too many vectors": [[[1], [2]], /2 vectors for 1 text/],
      NaN: [[[1, Number.NaN]], /without a direction/],
      infinity: [[[Infinity, 1]], /without a direction/],
      zeros: [[[0, 0, 0]], /without a direction: \[0,0,0\]/],
      text: [[["1", "2"]], /without a direction/],
      "an empty vector": [[[]], /without a direction/],
    };
    for (const [name, [answer, message]] of Object.entries(given)) {
      it(name, async () => {
        const store = MemoryStore.embeddings({ embed: async () => answer as [] }); // wrong on purpose
        const error = await rejectionOf(MemoryStoreError, store.store("s", entry("x")));
        expect(error.message).to.match(message);
        expect([error.code, error.operation, error.scope]).to.deep.equal([
          "AE_MEMORY_STORE",
          "store",
          "s",
        ]);
        expect((await store.retrieveVersioned("s", "", 1)).version).to.equal(0);
      });
    }

    it("vectors of another length than before, or than declared: both numbers are named", async () => {
      const store = MemoryStore.embeddings(fixedModel({ two: [1, 2], three: [1, 2, 3] }));
      await store.store("s", entry("two"));
      for (const work of [store.store("other", entry("three")), store.retrieve("s", "three", 1)]) {
        expect((await rejectionOf(MemoryStoreError, work)).message).to.match(
          /vector of 3 numbers where 2 are expected/,
        );
      }
      const declared = MemoryStore.embeddings({ dimensions: 4, embed: async () => [[1, 2]] });
      expect(
        (await rejectionOf(MemoryStoreError, declared.store("s", entry("x")))).message,
      ).to.match(/vector of 2 numbers where 4 are expected/);
    });
  });

  it("reports a failed model, with its error as the cause", async () => {
    const cause = new ModelCallError("busy", { provider: "p", modelId: "m", retryable: true });
    const store = MemoryStore.embeddings({ embed: () => Promise.reject(cause) });
    const error = await rejectionOf(MemoryStoreError, store.retrieve("s", "q", 1));
    expect(ModelCallError.find(error)).to.equal(cause);
  });

  it("reports a failed vector store, with its error as the cause", async () => {
    const cause = new Error("disk full");
    const broken = Object.assign(new ListedVectors(), {
      add: () => Promise.reject(cause),
      list: () => Promise.reject(cause),
    });
    const store = MemoryStore.embeddings(hashedBagOfWords(), broken);
    for (const [work, operation] of [
      [store.store("s", entry("x")), "store"],
      [store.clear("s"), "clear"],
      [store.retrieve("s", "", 1), "retrieve"],
    ] as const) {
      const error = await rejectionOf(MemoryStoreError, work);
      expect([error.cause, error.operation]).to.deep.equal([cause, operation]);
      expect(error.message).to.include("disk full");
    }
  });

  it("closes its vector store, and offers no versions for a vector store", async () => {
    const vectors = new ListedVectors();
    const store = MemoryStore.embeddings(hashedBagOfWords(), vectors);
    expect(store).not.to.have.property("storeIf");
    await store.close?.();
    expect(vectors.closed).to.equal(true);
  });

  it("refuses invalid arguments before any other work", () => {
    const refused: readonly [() => unknown, RegExp][] = [
      [() => MemoryStore.embeddings(undefined as never), /^embeddingModel must not be null$/],
      [() => MemoryStore.embeddings({} as never), /embeddingModel must have a method embed/],
      [
        () => MemoryStore.embeddings(hashedBagOfWords(), {} as never),
        /vectorStore must have a method add/,
      ],
      [
        () => MemoryStore.embeddings(hashedBagOfWords(), null as never),
        /vectorStore must not be null/,
      ],
      [
        () => MemoryStore.embeddings(hashedBagOfWords(), undefined, { minScore: 2 }),
        /minScore must be between -1 and 1, got: 2/,
      ],
      [
        () => MemoryStore.embeddings(hashedBagOfWords(), undefined, { minscore: 0 } as never),
        /Did you mean 'minScore'/,
      ],
      [() => LongTermMemory.of(null as never), /^memoryStore must not be null$/],
      [() => LongTermMemory.of({} as never), /memoryStore must have a method store/],
      [() => LongTermMemory.of(MemoryStore.inMemory(), " "), /^scope must not be null or blank$/],
    ];
    for (const [make, message] of refused)
      expect(make).to.throw(ValidationError).with.property("message").that.matches(message);
  });
});

describe("LongTermMemory", () => {
  it("finds by meaning and keeps the complete metadata", async () => {
    const memory = LongTermMemory.embeddings(hashedBagOfWords());
    const metadata = { agentRole: "Cook", taskDescription: "Cook rice", anything: "else" };
    await memory.store(
      entry("Rice takes eighteen minutes", { metadata, structuredContent: { minutes: 18 } }),
    );
    await memory.store(entry("The bus leaves at nine"));
    const [found, ...others] = await memory.retrieve("How many minutes does rice take?", 1);
    expect(others).to.be.empty;
    expect([found?.content, found?.metadata, found?.structuredContent]).to.deep.equal([
      "Rice takes eighteen minutes",
      metadata,
      { minutes: 18 },
    ]);
  });

  it("accepts a vector store, and a scope of any store", async () => {
    const vectors = new ListedVectors();
    await LongTermMemory.embeddings(hashedBagOfWords(), vectors).store(entry("one"));
    expect(vectors.rows.map(({ scope }) => scope)).to.deep.equal(["long-term"]);
    const store = MemoryStore.inMemory();
    await LongTermMemory.of(store, "team").store(entry("two"));
    expect(texts(await store.retrieve("team", "", 5))).to.deep.equal(["two"]);
  });

  it("finds nothing for a blank question, and checks its arguments", async () => {
    const memory = LongTermMemory.embeddings(hashedBagOfWords());
    await memory.store(entry("one"));
    expect(await memory.retrieve("  ", 5)).to.deep.equal([]);
    expect((await rejectionOf(ValidationError, memory.retrieve("", 0))).message).to.equal(
      "maxResults must be > 0, got: 0",
    );
    expect((await rejectionOf(ValidationError, memory.store(undefined as never))).message).to.equal(
      "entry must not be null",
    );
  });
});
