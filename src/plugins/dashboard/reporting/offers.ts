import type { Board } from "../board.js";
import type { OffersFrame } from "../protocol/report-messages.js";
import { ensemblesOf } from "../server/control-routes.js";
import { conversationsOf } from "../server/thread-routes.js";

/** What people may start and read in this process, without secrets. @throws what a diagram throws */
export function boardOffers(board: Board): OffersFrame {
  const offers = { ensembles: ensemblesOf(board), conversations: conversationsOf(board) };
  const shown = board.shownValue(offers) as typeof offers; // of the same form
  return { type: "offers", ...shown };
}
