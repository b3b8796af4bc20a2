import type { ContentPart } from "./content.js";
import { checkParts } from "./attachment.js";
import { ValidationError } from "./errors.js";
import { checkOptions, requireArray, requireText } from "./validation.js";

/** A page or document on which a result is based. */
export interface Source {
  readonly url?: string | undefined;
  readonly title?: string | undefined;
  readonly mediaType?: string | undefined;
}

/** Additional data of a tool result, besides its text and its structured value. */
export interface ToolResultExtra {
  /** Images and files for the model. */
  readonly parts?: readonly ContentPart[] | undefined;
  /** The sources of the result, for pages. The model does not receive them. */
  readonly sources?: readonly Source[] | undefined;
}

const RESULT = Symbol.for("agentensemble/tool-result");

/**
 * The result of a tool. A string or an object that a tool returns becomes `ToolResult.success` of
 * this value.
 */
export class ToolResult {
  readonly ok: boolean;
  /** The text that the model receives. Empty for a failure. */
  readonly output: string;
  /** The reason for a failure. `undefined` for a success. The model receives `Error: {message}`. */
  readonly errorMessage: string | undefined;
  /**
   * The structured form of the output, for listeners and the trace. The model does not receive it.
   */
  readonly structured: unknown;
  /** Images and files that the model receives in addition to the text. */
  readonly parts: readonly ContentPart[];
  /**
   * The pages and documents on which the output is based, for pages. The model does not receive
   * them.
   */
  readonly sources: readonly Source[];

  private constructor(
    o: Pick<ToolResult, "ok" | "output" | "errorMessage" | "structured">,
    extra: ToolResultExtra = {},
  ) {
    this.ok = o.ok;
    this.output = o.output;
    this.errorMessage = o.errorMessage;
    this.structured = o.structured;
    this.parts = checkedParts(extra.parts);
    this.sources = checkedSources(extra.sources);
    Object.freeze(this);
  }

  get [RESULT](): true {
    return true;
  }

  /**
   * Creates a successful result. `output` is the text that the model receives. `undefined` and
   * `null` become an empty text. Other values that are not strings become JSON. `extra.parts` are
   * images and files for models that accept them in tool results.
   *
   * @throws ValidationError for invalid parts or sources.
   */
  static success(output?: string, structured?: unknown, extra?: ToolResultExtra): ToolResult {
    return new ToolResult(
      { ok: true, output: textOf(output), errorMessage: undefined, structured },
      extra,
    );
  }

  static failure(message?: string): ToolResult {
    const text = textOf(message);
    const errorMessage = text === "" ? "Tool execution failed with no message" : text;
    return new ToolResult({ ok: false, output: "", errorMessage, structured: undefined });
  }

  /**
   * Returns whether `value` is a result. Also recognises results of another copy of the package.
   */
  static isInstance(value: unknown): value is ToolResult {
    return (
      typeof value === "object" &&
      value !== null &&
      (value as { [RESULT]?: unknown })[RESULT] === true
    );
  }
}

const NONE: readonly never[] = Object.freeze([]);

function checkedParts(parts: ToolResultExtra["parts"]): readonly ContentPart[] {
  requireArray("ToolResult parts", parts);
  if (parts === undefined || parts.length === 0) return NONE;
  checkParts("ToolResult part", parts);
  return Object.freeze([...parts]);
}

function checkedSources(sources: ToolResultExtra["sources"]): readonly Source[] {
  requireArray("ToolResult sources", sources);
  if (sources === undefined || sources.length === 0) return NONE;
  sources.forEach((source, index) => {
    const what = `ToolResult source at index ${index}`;
    checkOptions(what, source, ["url", "title", "mediaType"]);
    for (const field of ["url", "title", "mediaType"] as const)
      if (source[field] !== undefined)
        requireText(source[field], `${what}: ${field} must be text that is not blank`);
    if (source.url === undefined && source.title === undefined)
      throw new ValidationError(`${what} must have a url or a title`);
  });
  return Object.freeze([...sources]);
}

/** Returns the text of an output. Untyped callers may pass any value. */
function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : (JSON.stringify(value) ?? `${value as string}`);
}

/**
 * Converts the return value of a tool to a result.
 * @throws for an object that JSON can't represent.
 */
export function toToolResult(returned: unknown): ToolResult {
  if (returned === undefined || returned === null) return ToolResult.success("");
  if (typeof returned === "string") return ToolResult.success(returned);
  if (ToolResult.isInstance(returned)) return returned;
  return ToolResult.success(JSON.stringify(returned) ?? "", returned);
}
