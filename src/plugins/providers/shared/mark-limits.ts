/** Anthropic accepts this number of marks in a request. */
const MOST_MARKS = 4;

/** How a request has its marks. */
interface MarkForm<T> {
  isHour(marked: T): boolean;
  drop(marked: T): void;
  lengthen(marked: T): void;
}

/**
 * Applies the limits of Anthropic's cache to the marked blocks of a request, in the order of the
 * prompt. The last marks of too many stay, and a mark before one of an hour lasts an hour too, as
 * the vendor demands.
 */
export function limitMarks<T>(marked: readonly T[], form: MarkForm<T>): void {
  marked.slice(0, -MOST_MARKS).forEach((block) => form.drop(block));
  const kept = marked.slice(-MOST_MARKS);
  const lastHour = kept.findLastIndex((block) => form.isHour(block));
  kept.slice(0, Math.max(0, lastHour)).forEach((block) => form.lengthen(block));
}
