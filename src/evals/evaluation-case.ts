/** One case of a dataset: an input, and the properties of a good answer. */
export interface EvaluationCase<In = unknown, Out = unknown> {
  /** Unique in the dataset, 1 to 200 characters. Default: `case-{position}`, from 1. */
  readonly id?: string | undefined;
  readonly input: In;
  /** The correct output, which comparing scorers require. */
  readonly expected?: Out | undefined;
  /** Groups, for `only` and for reports. */
  readonly tags?: readonly string[] | undefined;
  /** Further data for scorers, for instance `sources`. JSON. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** A case that has its id. */
export interface NamedCase<In = unknown, Out = unknown> extends EvaluationCase<In, Out> {
  readonly id: string;
  /** From 0. */
  readonly position: number;
}

/**
 * Cases that can be read more than once: the first pass checks and hashes them, the second one
 * evaluates them. Only the cases in progress are in memory.
 */
export interface EvaluationDataset<In = unknown, Out = unknown> {
  /** For reports, for instance the path of a file. */
  readonly name?: string | undefined;
  read(): AsyncIterable<EvaluationCase<In, Out>>;
}
