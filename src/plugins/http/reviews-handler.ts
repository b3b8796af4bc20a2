import type { Principal } from "../../contracts/http-route.js";
import type { ReviewStore, StoredReview } from "../../contracts/review.js";
import type { Fields } from "../../util/objects.js";
import type { HttpOptions, HttpSettings } from "./http-options.js";
import type { RunOwnership } from "./review-access.js";
import type { ServedEndpoint, HttpExchange, RoutedHandler } from "./serve-endpoints.js";
import { ValidationError } from "../../contracts/errors.js";
import { checkOptions, preview, requireArray } from "../../contracts/validation.js";
import { isObject } from "../../util/objects.js";
import { isAdmitted } from "../shared/http/routes.js";
import { jsonAnswer } from "./answers.js";
import { HttpRefusal } from "../shared/http/http-refusal.js";
import { HTTP_OPTIONS, httpSettingsOf } from "./http-options.js";
import { readJsonObject } from "../shared/http/json-body.js";
import { ReviewAccess } from "./review-access.js";
import { requireFittingEdit } from "../shared/http/fitting-edit.js";
import { decisionIn, noSuchReview, answeredReview } from "./review-answer.js";
import { serveEndpoints } from "./serve-endpoints.js";

/** Options of `reviewsHandler`. */
export interface ReviewsHandlerOptions extends HttpOptions {
  /** The review store of the runs. Pass the same store to `review({ store })`. */
  readonly store: ReviewStore;
  /**
   * Handlers of runs. The owner of a run of these handlers may see the reviews of the run.
   * Default: none, so that access depends on roles only.
   */
  readonly runs?: readonly RunOwnership[] | undefined;
}

/** A handler of reviews. Subscribes to its store, so that runs may wait for answers there. */
export interface ReviewsHandler extends RoutedHandler {
  /** Ends the subscription to the store. Answers are still accepted. */
  close(): void;
}

/**
 * Number of reviews that are remembered after they leave the store. A late answer receives their
 * result.
 */
const KEPT_REVIEWS = 1_000;

/**
 * Creates a handler that lists and answers the reviews of a store. `GET {path}` returns `{ reviews
 * }` with the reviews that the principal may see, oldest first. `POST {path}/:reviewId` takes `{
 * decision, text?, comment? }` and returns `{ reviewId, decision, status }`. Default path
 * `/api/chat/reviews`.
 * @throws ValidationError
 */
export function reviewsHandler(o: ReviewsHandlerOptions): ReviewsHandler {
  checkOptions("reviewsHandler", o, [...HTTP_OPTIONS, "store", "runs"]);
  if (!isObject(o.store) || typeof o.store.onRequest !== "function")
    throw new ValidationError(
      `reviewsHandler store must be a review store, got: ${preview(o.store)}`,
      {
        hint: "Make one with reviewInbox() and give it to review({ store }) too.",
      },
    );
  requireArray("reviewsHandler runs", o.runs);
  const strange = o.runs?.find((runs) => typeof runs?.startedBy !== "function");
  if (strange !== undefined)
    throw new ValidationError(
      `reviewsHandler runs must be handlers of runs, got: ${preview(strange)}`,
    );
  const settings = httpSettingsOf("reviewsHandler", o, "/api/chat/reviews");
  const desk = new ReviewDesk(o.store, new ReviewAccess(o.runs ?? []), settings);
  return Object.assign(serveEndpoints(settings, desk.endpoints()), { close: desk.watch() });
}

class ReviewDesk {
  readonly #store: ReviewStore;
  readonly #access: ReviewAccess;
  readonly #settings: HttpSettings;
  readonly #known = new Map<string, StoredReview>();

  constructor(store: ReviewStore, access: ReviewAccess, settings: HttpSettings) {
    this.#store = store;
    this.#access = access;
    this.#settings = settings;
  }

  endpoints(): readonly ServedEndpoint[] {
    return [
      { method: "GET", place: "", role: "any", handle: (asked) => this.#list(asked) },
      { method: "POST", place: "/:id", role: "any", handle: (asked) => this.#answer(asked) },
    ];
  }

  watch(): () => void {
    return this.#store.onRequest((review) => this.#remember(review));
  }

  async #list({ principal }: HttpExchange): Promise<Response> {
    const pending = await this.#store.pending();
    const reviews = pending
      .filter((review) => this.#access.sees(review, principal))
      .map((review) => this.#shown(review, principal));
    return jsonAnswer(200, { reviews });
  }

  async #answer({ request, principal, id }: HttpExchange): Promise<Response> {
    const review = await this.#find(id);
    if (review === undefined || !this.#access.sees(review, principal)) throw noSuchReview();
    if (!this.#access.mayAnswer(review, principal))
      throw new HttpRefusal(403, "ROLE_REQUIRED", "This review needs a role that you do not have");
    const decision = decisionIn(await readJsonObject(request, this.#settings), principal.name);
    await requireFittingEdit(review, decision);
    return jsonAnswer(200, answeredReview(await this.#store.resolve(id, decision)));
  }

  async #find(reviewId: string): Promise<StoredReview | undefined> {
    const pending = await this.#store.pending();
    const review = pending.find((one) => one.reviewId === reviewId);
    // The review may be older than the subscription.
    if (review !== undefined) this.#remember(review);
    return review ?? this.#known.get(reviewId);
  }

  #remember(review: StoredReview): void {
    this.#known.delete(review.reviewId);
    this.#known.set(review.reviewId, review);
    if (this.#known.size <= KEPT_REVIEWS) return;
    for (const oldest of this.#known.keys()) return void this.#known.delete(oldest);
  }

  /**
   * Returns the fields of a review for a principal. Descriptions of tasks are prompts and hidden
   * from a caller that only started the run. The description of a tool call is shown, because it
   * names the call to approve.
   */
  #shown(review: StoredReview, principal: Principal): Fields {
    const { taskDescription, ...rest } = review;
    const isDescribed = review.toolName !== undefined || isAdmitted(principal, "reviewer");
    return {
      ...rest,
      ...(isDescribed && { taskDescription }),
      mayAnswer: this.#access.mayAnswer(review, principal),
    };
  }
}
