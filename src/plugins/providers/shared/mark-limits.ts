/** Anthropic accepts this number of marks in a request. */
const MOST_MARKS = 4;

/** The form of the marks of a request. */
interface MarkForm<T> {
  isHour(marked: T): boolean;
  drop(marked: T): void;
  lengthen(marked: T): void;
}

/**
 * Applies the limits of Anthropic's cache to the marked blocks of a request, in the order of the
 * prompt. Beyond the maximum, the last marks are kept. A mark before one of an hour also lasts an
 * hour, as the vendor requires.
 */
export function limitMarks<T>(marked: readonly T[], form: MarkForm<T>): void {
  marked.slice(0, -MOST_MARKS).forEach((block) => form.drop(block));
  const kept = marked.slice(-MOST_MARKS);
  const lastHour = kept.findLastIndex((block) => form.isHour(block));
  kept.slice(0, Math.max(0, lastHour)).forEach((block) => form.lengthen(block));
}
