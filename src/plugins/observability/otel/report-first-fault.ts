import { toError } from "../../../util/errors.js";

/**
 * Passes the first fault of an SDK or exporter on, so that it is reported, and ignores later ones.
 */
export class ReportFirstFault {
  #reported = false;
  /** The first fault, also one that could not be thrown where it occurred. */
  #noted: unknown;

  guard<A>(fn: (argument: A) => void): (argument: A) => void {
    return (argument) => {
      try {
        fn(argument);
      } catch (error) {
        this.note(error);
      }
      const fault = this.#noted;
      if (fault === undefined || this.#reported) return; // once is sufficient: a broken exporter fails for every span
      this.#reported = true;
      throw toError(fault);
    };
  }

  note(error: unknown): void {
    this.#noted ??= error ?? new Error("unknown error");
  }
}
