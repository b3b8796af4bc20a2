import type { Board } from "../board.js";
import type { OffersFrame } from "../protocol/report-messages.js";
import { ensemblesOf } from "../server/control-routes.js";
import { conversationsOf } from "../server/thread-routes.js";

/**
 * Returns the teams and threads of this process, without secrets.
 * @throws the errors of a diagram
 */
export function boardOffers(board: Board): OffersFrame {
  const offers = { ensembles: ensemblesOf(board), conversations: conversationsOf(board) };
  const shown = board.shownValue(offers) as typeof offers; // of the same form
  return { type: "offers", ...shown };
}
