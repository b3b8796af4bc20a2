import type { RunHandle } from "../../contracts/run.js";
import type { RunSummary } from "../../contracts/run-store.js";
import type { UIStreamOptions } from "../../contracts/ui-stream.js";
import type { ChunkSource } from "../shared/ui-stream/chunk-response.js";
import type { PageStream } from "../shared/ui-stream/page-stream.js";
import type { LiveStream } from "./live-stream.js";
import type { StreamSettings } from "./run-handler-options.js";
import type { StartedRuns } from "./started-runs.js";
import { chunkResponse } from "../shared/ui-stream/chunk-response.js";
import { pageStream } from "../shared/ui-stream/open-chunks.js";
import { PRIVATE_HEADERS } from "./answers.js";
import { EventPage } from "./event-page.js";
import { EventTap } from "./event-tap.js";
import { KeptStream } from "./kept-stream.js";
import { DirectStream } from "./live-stream.js";
import { loggedStream } from "./logged-stream.js";
import { runHeaders } from "./run-answers.js";

/** Creates streams and their responses according to the settings. */
export class StreamAnswers {
  readonly #settings: StreamSettings;
  readonly #options: UIStreamOptions;

  constructor(settings: StreamSettings) {
    const { ui, onDisconnect, reviews } = settings;
    this.#settings = settings;
    this.#options = { ...ui, onDisconnect, endAtApproval: reviews !== undefined };
  }

  /** Creates the page stream of a run, or of a turn of a thread. */
  page(runId: string, threadId?: string): PageStream {
    const { protocol } = this.#settings;
    if (protocol === "events") return new EventPage(this.#options);
    return pageStream(runId, { ...this.#options, protocol, threadId });
  }

  /**
   * Starts the stream of a run.
   * @throws the failure of the run, if the run failed before its first event.
   */
  async begin(handle: RunHandle, threadId?: string): Promise<LiveStream> {
    const { streams } = this.#settings;
    const events = new EventTap(handle.events);
    if (!(await events.hasFirst())) await handle.output;
    const parts = {
      handle,
      events,
      page: this.page(handle.id, threadId),
      options: this.#options,
      failure: (error: Error) => this.#failure(handle.id, error),
    };
    return streams === undefined ? new DirectStream(parts) : new KeptStream(streams, parts);
  }

  /**
   * Returns the stream of a run from the log. The run may belong to this process or to an earlier
   * one.
   */
  logged(summary: RunSummary, runs: StartedRuns, threadId?: string): ChunkSource | undefined {
    const { log, reviews } = this.#settings;
    const { runId, state } = summary;
    if (log === undefined) return undefined;
    const isLive = (): boolean | undefined => {
      const run = runs.get(runId);
      return run === undefined ? undefined : run.handle !== undefined;
    };
    const run = { log, isLive, runId, endsAtApproval: reviews !== undefined };
    return loggedStream(
      { ...run, waitsElsewhere: state === "waiting" },
      this.page(runId, threadId),
    );
  }

  /**
   * Sends parts at the pace of their reader. The reader can disconnect through its request or
   * through the response.
   */
  respond(source: ChunkSource, runId: string, { signal }: Request): Response {
    const leave = (): void => source.leave();
    signal.addEventListener("abort", leave, { once: true });
    if (signal.aborted) leave();
    const { protocol } = this.#settings;
    return chunkResponse(source, {
      protocol: protocol === "ui" ? "ui" : "ag-ui",
      headers: {
        ...PRIVATE_HEADERS,
        "Cache-Control": "no-store, no-transform", // compression would delay parts
        ...runHeaders(runId),
      },
    });
  }

  #failure(runId: string, error: Error): ReturnType<PageStream["end"]>[number] {
    const parts = this.page(runId).end({ kind: "failed", error });
    return parts.at(-1) ?? { type: "error" };
  }
}
