import type { HttpRoute } from "../../../contracts/http-route.js";
import type { Board } from "../board.js";
import type { ReviewListBody } from "../protocol/http-bodies.js";
import type { BoardExchange } from "./answers.js";
import { requireOneOf } from "../../../contracts/validation.js";
import { readJsonObject } from "../../shared/http/json-body.js";
import { answerReview } from "./answer-review.js";
import { boardRoute, boardJson } from "./answers.js";
import { BODY_LIMITS } from "./limits.js";

/** Returns the routes of reviews. */
export function reviewRoutes(board: Board): readonly HttpRoute[] {
  return [
    boardRoute("GET", "/api/reviews", "viewer", (asked) => listReviews(board, asked)),
    boardRoute("POST", "/api/reviews/{reviewId}", "reviewer", async (asked) => {
      const body = await readJsonObject(asked.request, BODY_LIMITS);
      const { parameters, principal } = asked;
      return Response.json(
        await answerReview(board, parameters["reviewId"] ?? "", body, principal),
      );
    }),
  ];
}

async function listReviews({ desk }: Board, { query, request }: BoardExchange): Promise<Response> {
  const state = query.get("state") ?? undefined;
  const runId = query.get("runId");
  requireOneOf("state", state, ["waiting", "answered"]);
  const reviews: ReviewListBody["reviews"] = [
    ...(state === "answered" ? [] : await desk.pending()),
    ...(state === "waiting" ? [] : desk.answered),
  ].filter((review) => runId === null || review.runId === runId);
  const body: ReviewListBody = { reviews, total: reviews.length };
  return boardJson(JSON.stringify(body), request);
}
