import type { HttpRoute } from "../../../contracts/http-route.js";
import type { CatalogueEntry, SharedCapability } from "../../../contracts/network.js";
import type { ReviewStore } from "../../../contracts/review.js";
import type { TextRoute } from "../../shared/http/text-route.js";
import type { RequestDesk } from "./caller-requests.js";
import type { EndpointSettings } from "./rpc-endpoint.js";
import { CARD_PATH, RPC_PATH } from "../shared/a2a/protocol.js";
import { agentCardOf } from "./agent-card.js";
import { ReviewDesk } from "./review-desk.js";
import { RpcEndpoint } from "./rpc-endpoint.js";

/** The parts of a service that A2A uses. */
export interface A2aServing
  extends
    Pick<RequestDesk, "ensemble" | "backend" | "clock" | "resultTtlMs" | "enqueue" | "push">,
    Pick<EndpointSettings, "isDraining" | "onError" | "streams"> {
  readonly entry: () => CatalogueEntry;
  /** The store of the ensemble's reviews. Without it, tasks never ask for input. */
  readonly reviews: ReviewStore | undefined;
  /** The access to the agent card. */
  readonly card: "public" | "private";
  /** The address of the service behind a proxy. Default: the address of the request. */
  readonly publicUrl: string | undefined;
  readonly needsToken: boolean;
}

/** The routes of A2A. */
export interface A2aRoutes {
  readonly routes: readonly (HttpRoute | TextRoute)[];
  /** Ends the subscription to reviews. */
  close(): void;
}

/** Serves an ensemble by A2A 1.0, with its agent card and JSON-RPC with streams of events. */
export function a2aRoutes(serving: A2aServing): A2aRoutes {
  const { ensemble, backend, clock, resultTtlMs, enqueue, isDraining, onError } = serving;
  const { entry, needsToken, publicUrl, card, streams, push } = serving;
  const reviews = new ReviewDesk(serving.reviews);
  const hasPush = push !== undefined;
  const capabilities = (): readonly SharedCapability[] => entry().capabilities;
  const desk = { ensemble, backend, clock, resultTtlMs, enqueue, reviews, capabilities, push };
  const endpoint = new RpcEndpoint(desk, { isDraining, streams, onError });
  return {
    close: () => reviews.close(),
    routes: [
      {
        method: "GET",
        path: CARD_PATH,
        role: card === "public" ? "public" : "caller",
        handle: (request) => {
          const baseUrl = (publicUrl ?? new URL(request.url).origin).replace(/\/+$/, "");
          return Response.json(agentCardOf(entry(), { baseUrl, needsToken, hasPush }), {
            headers: { "Cache-Control": "no-cache" },
          });
        },
      },
      {
        method: "POST",
        path: RPC_PATH,
        role: "caller",
        answer(request, text, principal) {
          if (principal === undefined) throw new Error("The route requires a principal");
          return endpoint.handle(request, text, principal);
        },
      },
    ],
  };
}
