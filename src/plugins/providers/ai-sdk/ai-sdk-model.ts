/**
 * The part of a Vercel AI SDK language model that is used here. Any object with these members is
 * accepted, from any copy or version of the SDK. Its specification must be v2, v3 or v4.
 */
export interface AiSdkLanguageModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  // Methods accept narrower option types, so more models are assignable.
  doGenerate(options: never): PromiseLike<unknown>;
  doStream(options: never): PromiseLike<unknown>;
}

/** The supported versions of the specification. */
export const SPECIFICATIONS = ["v2", "v3", "v4"] as const;

/** One of `SPECIFICATIONS`. */
export type Specification = (typeof SPECIFICATIONS)[number];

/** Returns the specification of a model, or `undefined` if it is not supported. */
export function specificationOf(model: {
  readonly specificationVersion?: unknown;
}): Specification | undefined {
  return SPECIFICATIONS.find((version) => version === model.specificationVersion);
}
