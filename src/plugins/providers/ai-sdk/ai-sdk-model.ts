/**
 * A language model of the Vercel AI SDK as far as it is used here: any object with these members will do, whatever copy or version of the SDK made it.
 * Its specification is v2, v3 or v4.
 */
export interface AiSdkLanguageModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  // Methods, so that models whose options are typed more narrowly fit.
  doGenerate(options: never): PromiseLike<unknown>;
  doStream(options: never): PromiseLike<unknown>;
}

/** The versions of the specification that are understood. */
export const SPECIFICATIONS = ["v2", "v3", "v4"] as const;

/** One of `SPECIFICATIONS`. */
export type Specification = (typeof SPECIFICATIONS)[number];

/** The specification of a model; `undefined` for one that is not understood. */
export function specificationOf(model: {
  readonly specificationVersion?: unknown;
}): Specification | undefined {
  return SPECIFICATIONS.find((version) => version === model.specificationVersion);
}
