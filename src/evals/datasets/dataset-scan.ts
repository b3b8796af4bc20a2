import { createHash } from "node:crypto";
import type { CaseSelection } from "../evaluation-options.js";
import type { EvaluationDataset, NamedCase } from "../evaluation-case.js";
import { DatasetError } from "../../contracts/evaluation-errors.js";
import { preview } from "../../contracts/validation.js";
import { messageOf } from "../../util/errors.js";
import { canonicalJson } from "../../util/json/canonical.js";
import { RandomSource } from "../statistics/random-source.js";
import { namedCase } from "./checked-case.js";
import { IdSet } from "./id-set.js";

/** The result of the first pass over a dataset. */
export interface DatasetScan {
  readonly hash: string;
  readonly cases: number;
  readonly selected: number;
  /** The first case of the dataset, which may not be selected. */
  readonly first: NamedCase;
  /** Whether a case is evaluated. */
  selects(one: NamedCase): boolean;
}

/**
 * Reads all cases once: checks them, hashes them, and selects the cases to evaluate.
 * @throws DatasetError
 */
export async function scanDataset(
  dataset: EvaluationDataset,
  only: CaseSelection | undefined,
  seed: number,
): Promise<DatasetScan> {
  const hash = createHash("sha256");
  const ids = new IdSet();
  const choice = new CaseChoice(only, seed);
  let cases = 0;
  let first: NamedCase | undefined;
  for await (const given of dataset.read()) {
    const one = namedCase(given, cases++);
    first ??= one;
    if (!ids.add(one.id))
      throw new DatasetError(`Two cases have the id '${preview(one.id)}'`, "DUPLICATE_ID", {
        hint: "Ids name cases in reports and comparisons: make them unique.",
      });
    hash.update(hashedText(one)).update("\n");
    choice.offer(one);
  }
  if (first === undefined)
    throw new DatasetError(`The dataset${datasetLabel(dataset)} has no case`, "EMPTY");
  if (choice.count === 0)
    throw new DatasetError(
      `None of the ${cases} cases${datasetLabel(dataset)} matches \`only\``,
      "EMPTY",
      { hint: `Given: ${preview(only)}` },
    );
  return {
    hash: hash.digest("hex"),
    cases,
    selected: choice.count,
    first,
    selects: (one) => choice.includes(one),
  };
}

/**
 * Yields the cases to evaluate, from the start.
 * @throws DatasetError if there are fewer or more cases than in the first pass.
 */
export async function* selectedCases(
  dataset: EvaluationDataset,
  scan: DatasetScan,
): AsyncGenerator<NamedCase, void, void> {
  let position = 0;
  for await (const given of dataset.read()) {
    const one = namedCase(given, position++);
    if (position > scan.cases) break;
    if (scan.selects(one)) yield one;
  }
  if (position !== scan.cases)
    throw new DatasetError(
      `The dataset${datasetLabel(dataset)} had ${scan.cases} cases when it was read first, and has ${position > scan.cases ? "more" : position} now`,
      "CHANGED",
    );
}

function datasetLabel({ name }: EvaluationDataset): string {
  return name === undefined ? "" : ` '${preview(name)}'`;
}

function hashedText({ id, input, expected, tags, metadata }: NamedCase): string {
  try {
    return canonicalJson({ id, input, expected, tags, metadata });
  } catch (cause) {
    throw new DatasetError(
      `Case '${preview(id)}' can't be written as JSON: ${messageOf(cause)}`,
      "INVALID_CASE",
      { cause },
    );
  }
}

/** Selects cases by ids and tags, and takes a sample of the selected cases. */
class CaseChoice {
  readonly #ids: ReadonlySet<string> | undefined;
  readonly #tags: ReadonlySet<string> | undefined;
  readonly #drawn: number[] = [];
  #positions: ReadonlySet<number> | undefined;
  readonly #random: RandomSource;
  #matching = 0;

  constructor(
    readonly only: CaseSelection | undefined,
    seed: number,
  ) {
    this.#ids = only?.ids === undefined ? undefined : new Set(only.ids);
    this.#tags = only?.tags === undefined ? undefined : new Set(only.tags);
    this.#random = new RandomSource(seed);
  }

  get count(): number {
    return this.only?.sample === undefined ? this.#matching : this.#drawn.length;
  }

  /** Reservoir sampling: each matching case has the same probability. */
  offer(one: NamedCase): void {
    if (!this.#matches(one)) return;
    this.#matching++;
    const size = this.only?.sample;
    if (size === undefined) return;
    if (this.#drawn.length < size) this.#drawn.push(one.position);
    else {
      const place = this.#random.below(this.#matching);
      if (place < size) this.#drawn[place] = one.position;
    }
  }

  includes(one: NamedCase): boolean {
    if (this.only?.sample === undefined) return this.#matches(one);
    this.#positions ??= new Set(this.#drawn);
    return this.#positions.has(one.position);
  }

  #matches({ id, tags = [] }: NamedCase): boolean {
    if (this.#ids === undefined && this.#tags === undefined) return true;
    return this.#ids?.has(id) === true || tags.some((tag) => this.#tags?.has(tag) === true);
  }
}
