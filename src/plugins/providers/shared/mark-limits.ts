import { emitProcessWarning } from "../../../util/process-warning.js";

/** Maximum number of marks in a request to Anthropic. */
const MOST_MARKS = 4;

/** Numbers of marks for which a warning was emitted. */
const reported = new Set<number>();

/** The form of the marks of a request. */
interface MarkForm<T> {
  isHour(marked: T): boolean;
  drop(marked: T): void;
  lengthen(marked: T): void;
}

/**
 * Applies the limits of Anthropic's cache to the marked blocks of a request, in the order of the
 * prompt. Beyond the maximum, the last marks are kept, with a process warning. A mark before a mark
 * of one hour also lasts an hour, because the vendor requires this.
 */
export function limitMarks<T>(marked: readonly T[], form: MarkForm<T>): void {
  if (marked.length > MOST_MARKS) reportOnce(marked.length);
  marked.slice(0, -MOST_MARKS).forEach((block) => form.drop(block));
  const kept = marked.slice(-MOST_MARKS);
  const lastHour = kept.findLastIndex((block) => form.isHour(block));
  kept.slice(0, Math.max(0, lastHour)).forEach((block) => form.lengthen(block));
}

function reportOnce(marks: number): void {
  if (reported.has(marks)) return;
  reported.add(marks);
  emitProcessWarning(
    `A request has ${marks} marks for the vendor's cache, and the vendor accepts ${MOST_MARKS}: the last ${MOST_MARKS} are kept. Further requests with ${marks} marks are not reported`,
  );
}
