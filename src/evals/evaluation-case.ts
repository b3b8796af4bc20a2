/** One case of a dataset: an input, and the properties of a good answer. */
export interface EvaluationCase<In = unknown, Out = unknown> {
  /**
   * The id, unique in the dataset, with 1 to 200 characters. Default: `case-{position}`, counted
   * from 1.
   */
  readonly id?: string | undefined;
  readonly input: In;
  /** The correct output. Required by scorers that compare outputs. */
  readonly expected?: Out | undefined;
  /** Names of groups, for `only` and for reports. */
  readonly tags?: readonly string[] | undefined;
  /** Further data for scorers, for instance `sources`. JSON data. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** A case with an id. */
export interface NamedCase<In = unknown, Out = unknown> extends EvaluationCase<In, Out> {
  readonly id: string;
  /** The position in the dataset, from 0. */
  readonly position: number;
}

/**
 * Cases that can be read several times: the first pass checks and hashes them, the second pass
 * evaluates them. Only the cases in progress are kept in memory.
 */
export interface EvaluationDataset<In = unknown, Out = unknown> {
  /** The name in reports, for instance the path of a file. */
  readonly name?: string | undefined;
  read(): AsyncIterable<EvaluationCase<In, Out>>;
}
