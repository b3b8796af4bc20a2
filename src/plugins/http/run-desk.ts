import type { Principal } from "../../contracts/http-route.js";
import type { StoredReview } from "../../contracts/review.js";
import type { RunHandle } from "../../contracts/run.js";
import type { ChunkSource } from "../shared/ui-stream/chunk-response.js";
import type { PageAnswers } from "./approvals.js";
import type { RunOwnership } from "./review-access.js";
import type { AnswerableReviews, RunSettings, StreamingEnsemble } from "./run-handler-options.js";
import type { ServedEndpoint, HttpExchange } from "./serve-endpoints.js";
import type { StartedRun } from "./started-runs.js";
import { jsonAnswer, PRIVATE_HEADERS } from "./answers.js";
import { HttpRefusal } from "../shared/http/http-refusal.js";
import { answeredStream, answersFor, answersIn, asksFor } from "./approvals.js";
import { readJsonObject } from "../shared/http/json-body.js";
import { OWNER_TAG, ownerTagOf } from "./ownership.js";
import { ReviewAccess } from "./review-access.js";
import { noSuchReview } from "./review-answer.js";
import { noSuchRun, runFailure, runHeaders, wantsStream } from "./run-answers.js";
import { requireMay } from "./serve-endpoints.js";
import { StartedRuns } from "./started-runs.js";
import { StreamAnswers } from "./stream-answers.js";

/** A run that was just started. */
interface LiveRun {
  readonly handle: RunHandle;
  readonly run: StartedRun;
}

/** Starts, streams and cancels the runs of one ensemble. */
export class RunDesk implements RunOwnership {
  readonly #ensemble: StreamingEnsemble;
  readonly #settings: RunSettings;
  readonly #runs = new StartedRuns();
  readonly #streams: StreamAnswers;
  readonly #access = new ReviewAccess([this]);
  /** Ends the subscription to the review store. */
  readonly close: () => void;

  constructor(ensemble: StreamingEnsemble, settings: RunSettings) {
    this.#ensemble = ensemble;
    this.#settings = settings;
    this.#streams = new StreamAnswers(settings);
    // The pages that receive the streams send the answers.
    this.close = settings.reviews?.onRequest?.(() => undefined) ?? (() => undefined);
  }

  endpoints(): readonly ServedEndpoint[] {
    const role = "caller";
    return [
      { method: "POST", place: "", role, handle: (asked) => this.#post(asked) },
      { method: "GET", place: "/:id/stream", role, handle: (asked) => this.#resume(asked) },
      { method: "DELETE", place: "/:id", role, handle: (asked) => this.#cancel(asked) },
    ];
  }

  startedBy(runId: string, principal: Principal): boolean {
    return this.#runs.find(runId, principal) !== undefined;
  }

  async #post(asked: HttpExchange): Promise<Response> {
    const { request, principal } = asked;
    requireMay(principal, this.#ensemble);
    const body = await readJsonObject(request, this.#settings);
    const { reviews } = this.#settings;
    const answers = reviews === undefined ? undefined : answersIn(body, principal.name);
    if (reviews !== undefined && answers !== undefined) {
      const run = this.#askedRun(answers, principal);
      // A message without approvals may be an input of the run.
      if (run !== undefined || answers.approvals.length > 0)
        return this.#answer(asked, run, { answers, reviews });
    }
    try {
      const run = this.#start(body, principal);
      return wantsStream(request)
        ? await this.#stream(run, request)
        : await this.#await(run, request);
    } catch (error) {
      throw runFailure(error);
    }
  }

  #start(inputs: unknown, principal: Principal): LiveRun {
    // The ensemble checks the inputs.
    const handle = this.#ensemble.stream(inputs as never, {
      tags: { [OWNER_TAG]: ownerTagOf(principal) },
      values: principal.values,
    });
    return { handle, run: this.#runs.add(handle, principal) };
  }

  async #await({ handle }: LiveRun, request: Request): Promise<Response> {
    void handle.events[Symbol.asyncIterator]().return?.(); // the events are not used
    const output = await this.#whileThere(handle, request, () => handle.output);
    const body = { runId: handle.id, output: this.#settings.output(output) };
    return jsonAnswer(200, body, runHeaders(handle.id));
  }

  async #stream({ handle, run }: LiveRun, request: Request): Promise<Response> {
    const stream = await this.#whileThere(handle, request, () => this.#streams.begin(handle));
    if (stream.isKept || run.handle !== undefined) run.stream = stream;
    const source = await stream.begin();
    if (source === undefined) throw new Error("The store of streams does not keep the stream");
    return this.#streams.respond(source, handle.id, request);
  }

  /**
   * Waits for `work`. If the client disconnects during the wait, cancels the run, unless
   * `onDisconnect` is `finish`.
   */
  async #whileThere<T>(handle: RunHandle, { signal }: Request, work: () => Promise<T>): Promise<T> {
    const leave = (): void => {
      if (this.#settings.onDisconnect === "cancel") handle.cancel("the client has left");
    };
    if (signal.aborted) leave();
    signal.addEventListener("abort", leave, { once: true });
    try {
      return await work();
    } finally {
      signal.removeEventListener("abort", leave);
    }
  }

  /** Answers the questions of a run, and continues its stream. */
  async #answer(
    { request, principal }: HttpExchange,
    run: StartedRun | undefined,
    { answers, reviews }: { readonly answers: PageAnswers; readonly reviews: AnswerableReviews },
  ): Promise<Response> {
    if (run?.stream === undefined) throw noSuchReview();
    const mayAnswer = (review: StoredReview): boolean => this.#access.mayAnswer(review, principal);
    const given = answersFor(run.stream, answers);
    const source = await answeredStream(run.stream, given, { reviews, mayAnswer });
    return this.#streams.respond(source, run.id, request);
  }

  /** Returns the run of this principal that awaits these answers. */
  #askedRun(answers: PageAnswers, principal: Principal): StartedRun | undefined {
    const { approvals, runId } = answers;
    const ids = approvals.map(({ reviewId }) => reviewId);
    const asking = this.#runs.findAsking(ids, principal);
    if (asking !== undefined || runId === undefined) return asking;
    const named = this.#runs.find(runId, principal);
    return asksFor(named?.stream, answers) ? named : undefined;
  }

  async #resume({ request, principal, id }: HttpExchange): Promise<Response> {
    const run = this.#runs.find(id, principal);
    const source = (await run?.stream?.open()) ?? (await this.#logged(id, principal));
    if (source !== undefined) return this.#streams.respond(source, id, request);
    if (run === undefined) throw noSuchRun();
    return new Response(null, { status: 204, headers: { ...PRIVATE_HEADERS } });
  }

  /**
   * Returns the stream of a run of this principal from the log. The run may belong to this process
   * or to an earlier one.
   */
  async #logged(runId: string, principal: Principal): Promise<ChunkSource | undefined> {
    const summary = await this.#settings.log?.get(runId);
    if (summary?.tags[OWNER_TAG] !== ownerTagOf(principal)) return undefined;
    return this.#streams.logged(summary, this.#runs);
  }

  #cancel({ principal, id }: HttpExchange): Response {
    const run = this.#runs.find(id, principal);
    if (run === undefined) throw noSuchRun();
    if (run.handle === undefined)
      throw new HttpRefusal(409, "RUN_COMPLETED", "The run has ended already");
    run.handle.cancel("the client requested it");
    return jsonAnswer(202, { runId: id, status: "CANCELLING" });
  }
}
