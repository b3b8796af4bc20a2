import type { ServerResponse } from "node:http";
import type { HttpRoute, Principal } from "../../../contracts/http-route.js";

/** A complete answer as text. */
export interface TextAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/**
 * A route of the framework that reads and answers complete texts. The listener creates no streams
 * for it, because streams would dominate the cost of a small exchange.
 */
export interface TextRoute extends Pick<HttpRoute, "path" | "role"> {
  readonly method: "POST" | "PUT";
  /**
   * Answers a request. `asked` has no body, because `text` contains it. `principal` is absent only
   * on public routes.
   */
  answer(
    asked: Request,
    text: string,
    principal: Principal | undefined,
  ): Promise<TextAnswer | Response>;
  readonly upgrade?: undefined;
}

/** Whether a route reads and answers complete texts. */
export function isTextRoute(route: HttpRoute | TextRoute): route is TextRoute {
  return "answer" in route;
}

/** Returns an answer in JSON. */
export function jsonText(
  value: unknown,
  { status = 200, headers = {} }: Partial<Omit<TextAnswer, "text">> = {},
): TextAnswer {
  return {
    status,
    headers: { "Content-Type": "application/json", ...headers },
    text: JSON.stringify(value),
  };
}

/** Sends a complete answer at once. `headers` are the headers of all answers of the listener. */
export function sendText(
  { status, headers: own, text }: TextAnswer,
  response: ServerResponse,
  headers: Readonly<Record<string, string>>,
): void {
  if (response.destroyed) return;
  const length = { "Content-Length": String(Buffer.byteLength(text)) };
  response.writeHead(status, { ...headers, ...own, ...length }).end(text);
}
