import { toError } from "../../../util/errors.js";

/** Throws the first fault of an SDK or exporter, so it is reported. Ignores later faults. */
export class ReportFirstFault {
  #reported = false;
  /** The first fault. It may have occurred where it could not be thrown. */
  #noted: unknown;

  guard<A>(fn: (argument: A) => void): (argument: A) => void {
    return (argument) => {
      try {
        fn(argument);
      } catch (error) {
        this.note(error);
      }
      const fault = this.#noted;
      // a broken exporter fails for every span, so one report is sufficient
      if (fault === undefined || this.#reported) return;
      this.#reported = true;
      throw toError(fault);
    };
  }

  note(error: unknown): void {
    this.#noted ??= error ?? new Error("unknown error");
  }
}
