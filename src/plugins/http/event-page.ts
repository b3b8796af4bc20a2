import type { EnsembleEvent } from "../../contracts/events.js";
import type { UIChunk, UIStreamOptions } from "../../contracts/ui-stream.js";
import type { PageEnd, PageStream } from "../shared/ui-stream/page-stream.js";
import { redactorOf } from "../../contracts/redaction.js";
import { redacted } from "../shared/redact-event.js";
import { uiErrorText } from "../shared/ui-stream/ui-error-text.js";

/** Returns the events of a run unchanged, but redacted. A failed run ends with `error`. */
export class EventPage implements PageStream {
  readonly clientCalls: ReadonlyMap<string, string> = new Map();
  readonly waitsForPeople = false;
  readonly #onError: UIStreamOptions["onError"];

  constructor({ onError }: UIStreamOptions) {
    this.#onError = onError;
  }

  take(event: EnsembleEvent): readonly UIChunk[] {
    // Entries of a log are JSON data and already redacted.
    return [redactorOf(event) === undefined ? { ...event } : redacted(event)];
  }

  end(end: PageEnd): readonly UIChunk[] {
    if (end.kind !== "failed") return [];
    return [{ type: "error", errorText: uiErrorText(end.error, this.#onError) }];
  }

  pause(): readonly UIChunk[] {
    return [];
  }

  startNextResponse(): void {
    // One response contains the complete run.
  }
}
