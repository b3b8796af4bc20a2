import type { PartSupport } from "../../../contracts/content.js";
import { ValidationError } from "../../../contracts/errors.js";
import { partSupport } from "../../../contracts/part-support.js";
import {
  checkOptions,
  preview,
  requireDuration,
  requireText,
} from "../../../contracts/validation.js";
import type { CallLimits } from "../shared/call-deadline.js";
import {
  specificationOf,
  SPECIFICATIONS,
  type AiSdkLanguageModel,
  type Specification,
} from "./ai-sdk-model.js";

/** Options of a model of the AI SDK. Keys, URLs and headers are options of the model's provider. */
export interface AiSdkOptions {
  /**
   * Time limit of a whole call in milliseconds, including the streamed response. Default 600,000.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Limit of the idle time in milliseconds, before the response begins and between two parts of a
   * stream. Default 60,000.
   */
  readonly idleTimeoutMs?: number | undefined;
  /**
   * A text that distinguishes this endpoint and account from others with the same provider and
   * model id, for caches. Default: none.
   */
  readonly identity?: string | undefined;
  /**
   * Whether the model enforces JSON schemas. Default: true, unless the model declares otherwise.
   */
  readonly structuredOutput?: boolean | undefined;
  /**
   * The images and files that the model accepts. Default: images, PDF, text files and audio. The
   * model itself refuses what it can't process.
   */
  readonly parts?: PartSupport | undefined;
}

/** Validated `AiSdkOptions` with defaults. */
export interface ResolvedAiSdkOptions {
  readonly limits: CallLimits;
  readonly structuredOutput: boolean;
  readonly parts: PartSupport;
  readonly identity: string | undefined;
  readonly specification: Specification;
}

const FILES: readonly string[] = Object.freeze([
  ...["image/*", "application/pdf", "text/*", "audio/*"],
]);
const PARTS: PartSupport = Object.freeze({ user: FILES, tool: FILES });
const DEFAULTS = Object.freeze({ timeoutMs: 600_000, idleTimeoutMs: 60_000 });

function checkSpecification(model: unknown): Specification {
  const fields = (typeof model === "object" && model !== null ? model : {}) as Readonly<
    Record<string, unknown>
  >; // any object can be read by key
  for (const method of ["doGenerate", "doStream"] as const) {
    if (typeof fields[method] === "function") continue;
    throw new ValidationError(
      `aiSdk() model must be a language model of the AI SDK, got: ${preview(model)}`,
      {
        hint: "Pass a model of an AI SDK provider: aiSdk(mistral('mistral-small-latest')).",
      },
    );
  }
  const specification = specificationOf(fields);
  if (specification !== undefined) return specification;
  throw new ValidationError(
    `aiSdk() model must be of specification ${SPECIFICATIONS.join(", ")}, got: ${preview(fields["specificationVersion"])}`,
    {
      hint: "Install a version of the model's package that belongs to AI SDK 5 or later.",
    },
  );
}

/** @throws ValidationError for an invalid model, an unknown option, or an invalid limit. */
export function resolveAiSdkOptions(
  model: AiSdkLanguageModel,
  options: AiSdkOptions,
): ResolvedAiSdkOptions {
  const specification = checkSpecification(model);
  checkOptions("aiSdk()", options, [
    "timeoutMs",
    "idleTimeoutMs",
    "structuredOutput",
    "identity",
    "parts",
  ]);
  const { timeoutMs, idleTimeoutMs, structuredOutput, identity } = options;
  if (identity !== undefined) requireText(identity, "aiSdk() identity must not be blank when set");
  requireDuration("aiSdk() timeoutMs", timeoutMs);
  requireDuration("aiSdk() idleTimeoutMs", idleTimeoutMs);
  if (structuredOutput !== undefined && typeof structuredOutput !== "boolean") {
    throw new ValidationError(
      `aiSdk() structuredOutput must be true or false, got: ${preview(structuredOutput)}`,
    );
  }
  const declared =
    "supportsStructuredOutputs" in model ? model.supportsStructuredOutputs : undefined;
  return Object.freeze({
    limits: {
      timeoutMs: timeoutMs ?? DEFAULTS.timeoutMs,
      idleTimeoutMs: idleTimeoutMs ?? DEFAULTS.idleTimeoutMs,
    },
    structuredOutput: structuredOutput ?? declared !== false,
    parts: partSupport("aiSdk() parts", options.parts) ?? PARTS,
    identity,
    specification,
  });
}
