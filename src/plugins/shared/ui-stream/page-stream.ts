import type { EnsembleEvent } from "../../../contracts/events.js";
import type { ExitReason } from "../../../contracts/output.js";
import type { Redactor } from "../../../contracts/redaction.js";
import type { UIChunk, UIStreamOptions } from "../../../contracts/ui-stream.js";

/** The end of a run, for its stream. */
export type PageEnd =
  | {
      readonly kind: "ended";
      readonly exitReason: ExitReason;
      /** The final text, if it is known. */
      readonly raw?: string | undefined;
      readonly redactor?: Redactor | undefined;
    }
  | { readonly kind: "failed"; readonly error: Error };

/**
 * Creates the parts of the stream of one run. Exactly one of `end` and `pause` finishes a response.
 */
export interface PageStream {
  /** Returns the parts of an event. Returns no parts after the end. */
  take(event: EnsembleEvent): readonly UIChunk[];
  end(end: PageEnd): readonly UIChunk[];
  /** Ends the response while the run waits for people. */
  pause(): readonly UIChunk[];
  /** Begins the next response of the same message. */
  startNextResponse(options: UIStreamOptions): void;
  /** Ids of the reviews that await the output of a call, by the call's id on the page. */
  readonly clientCalls: ReadonlyMap<string, string>;
  /** Whether all remaining work of the run waits for a person. */
  readonly waitsForPeople: boolean;
}
