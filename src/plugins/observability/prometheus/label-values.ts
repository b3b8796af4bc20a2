const OTHER = "other";
const LENGTH = 100;

/** Limits the number of series. Only the first values of each label are distinguished. */
export class LabelValues {
  readonly #known = new Map<string, Set<string>>();

  constructor(readonly max: number) {}

  /** Returns the value, or `other` if there are too many. */
  of(label: string, value: string): string {
    const short = value.slice(0, LENGTH);
    const known = this.#known.get(label) ?? new Set();
    this.#known.set(label, known);
    if (known.has(short)) return short;
    if (known.size >= this.max) return OTHER;
    known.add(short);
    return short;
  }

  /**
   * Returns the value if it occurred before, otherwise `other`. For names that a model may have
   * invented.
   */
  seen(label: string, value: string): string {
    const short = value.slice(0, LENGTH);
    return this.#known.get(label)?.has(short) === true ? short : OTHER;
  }
}
