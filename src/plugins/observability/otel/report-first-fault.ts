import { toError } from "../../../util/errors.js";

/** Lets the first fault of an SDK or exporter through, so that it is reported, and keeps silent about the many that follow from it. */
export class ReportFirstFault {
  #reported = false;
  /** The first one; also one that came up where it could not be thrown. */
  #noted: unknown;

  guard<A>(fn: (argument: A) => void): (argument: A) => void {
    return (argument) => {
      try {
        fn(argument);
      } catch (error) {
        this.note(error);
      }
      const fault = this.#noted;
      if (fault === undefined || this.#reported) return; // once is enough: a broken exporter breaks at every span
      this.#reported = true;
      throw toError(fault);
    };
  }

  note(error: unknown): void {
    this.#noted ??= error ?? new Error("unknown error");
  }
}
