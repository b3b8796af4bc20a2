import type { MemoryEntry, MemoryStore } from "../../../contracts/memory.js";
import type { AnyTool, DynamicToolProvider, Tool, ToolContext } from "../../../contracts/tool.js";
import { ValidationError } from "../../../contracts/errors.js";
import { MEMORY_METADATA } from "../../../contracts/memory.js";
import { MemoryScope } from "../../../contracts/memory-scope.js";
import { variablesIn } from "../../../contracts/template.js";
import { Tokens } from "../../../contracts/tokens.js";
import { tool } from "../../../contracts/tool.js";
import { ToolResult } from "../../../contracts/tool-result.js";
import {
  checkOptions,
  preview,
  requireBoolean,
  requireInteger,
  requireText,
} from "../../../contracts/validation.js";
import { listItem } from "../../../util/text.js";
import { UsedMemory } from "../../shared/memory/task-memory.js";
import { textArguments } from "./tool-arguments.js";

/** Options of {@link memoryTool}. */
export interface MemoryToolOptions {
  /**
   * Prefix of the names of both tools, so that one agent can have several: `team` gives
   * `team_storeMemory` and `team_retrieveMemory`. Default: none.
   */
  readonly prefix?: string | undefined;
  /** Maximum number of entries that `retrieveMemory` returns. Default 5. */
  readonly maxResults?: number | undefined;
  /**
   * Whether retrieved entries reach the model as marked data. Turn it off only if all writers to
   * the scope are trusted. Default true.
   */
  readonly untrusted?: boolean | undefined;
}

/** Arguments of `storeMemory`. */
type NewMemory = Readonly<Record<"key" | "value", string>>;
type MemoryQuery = Readonly<Record<"query", string>>;

/** A provider of two tools, for the `tools` of an agent or a task. */
export interface MemoryTool extends DynamicToolProvider {
  /**
   * `storeMemory` and `retrieveMemory`, for a list that must show them before a run:
   * `tools: [...memoryTool(...).tools]`.
   */
  readonly tools: readonly AnyTool[];
}

const OPTION_NAMES = ["prefix", "maxResults", "untrusted"];
const MAX_RESULTS = 5;
/** Time limit of one call in milliseconds, for any store. */
const CALL_MS = 30_000;
const METHODS = ["store", "retrieve", "evict", "clear"] as const;

/** The store and scope that the tools use. */
interface MemoryPlace {
  readonly scope: MemoryScope;
  readonly store: MemoryStore;
}

/**
 * Creates tools with which a model stores and searches memories in one scope of a store:
 * `storeMemory(key, value)` and `retrieveMemory(query)`. Entries are only added. A key may occur
 * more than once. Writes pass the `beforeMemoryWrite` hooks, as the writes of tasks do.
 * @throws ValidationError for a blank scope, an invalid store or an invalid option
 */
export function memoryTool(
  scope: string | MemoryScope,
  store: MemoryStore,
  options: MemoryToolOptions = {},
): MemoryTool {
  const name = scope instanceof MemoryScope ? scope.name : scope;
  requireText(name, "MemoryTool scope must not be null or blank");
  const named = scope instanceof MemoryScope ? scope : MemoryScope.of(scope);
  const [variable] = variablesIn(name);
  if (variable !== undefined)
    throw new ValidationError(
      `The scope '${name}' of a memory tool has the variable {${variable}}`,
      {
        hint: "A tool is shared by all runs: make it with the scope's final name.",
      },
    );
  checkMemoryStore(store);
  const { prefix, maxResults = MAX_RESULTS, untrusted = true } = checkedOptions(options);
  const prefixed = (own: string): string => (prefix === undefined ? own : `${prefix}_${own}`);
  const place = { scope: named, store };
  const tools = Object.freeze([
    storingTool(prefixed("storeMemory"), place),
    retrievingTool(prefixed("retrieveMemory"), place, maxResults, untrusted),
  ]);
  return Object.freeze({ tools, resolve: () => tools });
}

function checkMemoryStore(store: unknown): void {
  if (store === undefined || store === null)
    throw new ValidationError("MemoryTool memoryStore must not be null");
  const missing = METHODS.find(
    (method) => typeof (store as Readonly<Record<string, unknown>>)[method] !== "function",
  );
  if (missing !== undefined)
    throw new ValidationError(
      `MemoryTool memoryStore must be a MemoryStore; it has no ${missing}(): ${preview(store)}`,
    );
}

function checkedOptions(options: MemoryToolOptions): MemoryToolOptions {
  checkOptions("memoryTool()", options, OPTION_NAMES);
  const { prefix } = options;
  if (prefix !== undefined && !(typeof prefix === "string" && /^[A-Za-z0-9_-]{1,40}$/.test(prefix)))
    throw new ValidationError(
      `memoryTool() prefix must be 1 to 40 letters, digits, '_' or '-', got: ${preview(prefix)}`,
    );
  requireInteger("memoryTool() maxResults", options.maxResults, 1, "> 0");
  requireBoolean("memoryTool() untrusted", options.untrusted);
  return options;
}

function storingTool(name: string, { scope, store }: MemoryPlace): AnyTool {
  const storing: Tool<NewMemory> = tool<NewMemory>({
    name,
    description:
      'Stores a fact or piece of information for future reference, under a short key. Example: {"key": "office", "value": "The office is in Kiel."}',
    effect: "write",
    timeoutMs: CALL_MS,
    // A replay must store again, because later reads in the run are not recorded.
    replay: "run",
    input: textArguments({
      key: { description: "What the fact is about, in a word or two", examples: ["office"] },
      value: {
        description: "The fact, in a sentence that can be understood by itself",
        examples: ["The office is in Kiel."],
      },
    }),
    execute: async ({ key, value }, ctx) => {
      if (key.trim() === "") return ToolResult.failure("key must not be blank");
      if (value.trim() === "") return ToolResult.failure("value must not be blank");
      const { name: scopeName } = scope.inRun(ctx.run);
      await new UsedMemory(ctx.scope, store).store(scopeName, namedEntry(key, value, ctx));
      return ToolResult.success(`Stored: ${key}`);
    },
  });
  return storing; // it validates its arguments
}

function namedEntry(key: string, value: string, { scope }: ToolContext): MemoryEntry {
  const metadata = { [MEMORY_METADATA.key]: key, [MEMORY_METADATA.source]: "MemoryTool" };
  return Object.freeze({
    content: `${key}: ${value}`,
    storedAt: scope.get(Tokens.Clock).now(),
    metadata: Object.freeze(metadata),
  });
}

function retrievingTool(
  name: string,
  { scope, store }: MemoryPlace,
  maxResults: number,
  untrusted: boolean,
): AnyTool {
  const retrieving: Tool<MemoryQuery> = tool<MemoryQuery>({
    name,
    description:
      'Looks up what was stored earlier, in this run or before. Example: {"query": "Where is the office?"}',
    effect: "read",
    timeoutMs: CALL_MS,
    untrusted,
    input: textArguments({
      query: {
        description: "What to look for, in your own words",
        examples: ["Where is the office?"],
      },
    }),
    execute: async ({ query }, ctx) => {
      if (query.trim() === "") return "No query provided";
      const { name: scopeName } = scope.inRun(ctx.run);
      const memory = new UsedMemory(ctx.scope, store);
      const entries = await memory.retrieve(scopeName, query, maxResults);
      if (entries.length === 0) return `No relevant memories found for: ${query}`;
      return [
        "Retrieved memories:",
        ...entries.map((e) => `- ${listItem(ctx.scope.format(e.structuredContent, e.content))}`),
      ].join("\n");
    },
  });
  return retrieving; // it validates its arguments
}
