import type { EnsembleEvent } from "../../../contracts/events.js";
import type { ExitReason } from "../../../contracts/output.js";
import type { Redactor } from "../../../contracts/redaction.js";
import type { UIChunk, UIStreamOptions } from "../../../contracts/ui-stream.js";

/** How a run ended, for its stream. */
export type PageEnd =
  | {
      readonly kind: "ended";
      readonly exitReason: ExitReason;
      /** The final text, where it is known. */
      readonly raw?: string | undefined;
      readonly redactor?: Redactor | undefined;
    }
  | { readonly kind: "failed"; readonly error: Error };

/** Makes the parts of one run's stream. Exactly one of `end` and `pause` finishes a response. */
export interface PageStream {
  /** Returns the parts of an event. Parts of what happens after the end are not made. */
  take(event: EnsembleEvent): readonly UIChunk[];
  end(end: PageEnd): readonly UIChunk[];
  /** Ends the response while people are waited for. */
  pause(): readonly UIChunk[];
  /** Begins the next response of the same message. */
  goOn(options: UIStreamOptions): void;
  /** Whether everything that is left of the run waits for a person. */
  readonly waitsForPeople: boolean;
}
