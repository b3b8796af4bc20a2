// A service for programs and people. One address runs the team, another lists and decides its
// reviews. The server listens on this machine. The program is its own client. It reads a stream and
// approves a tool call as another user.
// Run it: npm run example -- 51
import { createServer } from "node:http";
import { Agent, Ensemble, Task, tool, type Principal } from "agentensemble";
import { reviewsHandler, runHandler, toNodeListener } from "agentensemble/http";
import { review, reviewInbox } from "agentensemble/review";
import { z } from "zod";
import { realOrScripted } from "./support/scripted.js";

const { model, name } = realOrScripted(({ messages }) =>
  messages.some(({ role }) => role === "tool")
    ? { chunks: ["The refund ", "is on its way."] }
    : { toolCalls: [{ name: "refund", arguments: { order: "A-17", euros: 40 } }] },
);
console.log(`Model: ${name}\n`);

const refund = tool({
  name: "refund",
  description: "Pays an order back",
  input: z.object({ order: z.string(), euros: z.number() }),
  requireApproval: true,
  execute: ({ order, euros }) => `Paid ${euros} euros for ${order}`,
});
const inbox = reviewInbox();
await using team = new Ensemble({
  name: "refunds",
  model,
  inputType: z.object({ complaint: z.string().max(2_000) }),
  tasks: [
    new Task({
      description: "Settle this complaint: {complaint}",
      agent: new Agent({ role: "Clerk", goal: "Is fair", tools: [refund] }),
    }),
  ],
  plugins: [review({ store: inbox })],
});

// A real service looks up the token. A request without a token is refused.
const users: Readonly<Record<string, Principal>> = {
  "token-of-shop": { name: "shop", role: "caller", may: ["refunds"] },
  "token-of-ana": { name: "ana", role: "reviewer" },
};
const authenticate = (request: Request): Principal | undefined =>
  users[request.headers.get("authorization")?.replace("Bearer ", "") ?? ""];

const runs = runHandler(team, { authenticate });
const reviews = reviewsHandler({ store: inbox, authenticate, runs: [runs], path: "/api/reviews" });
const server = createServer(
  toNodeListener((request) =>
    new URL(request.url).pathname.startsWith("/api/reviews") ? reviews(request) : runs(request),
  ),
);
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const address = server.address();
const port = typeof address === "object" && address !== null ? address.port : 0;

/** Sends a request to the service with a token. */
function ask(token: string, path: string, body?: object, accept = "*/*"): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}${path}`, {
    ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
    headers: { "content-type": "application/json", authorization: `Bearer ${token}`, accept },
  });
}

const stream = await ask(
  "token-of-shop",
  "/api/run",
  { complaint: "The kettle leaks." },
  "text/event-stream",
);
let isAsked = false;
for await (const bytes of stream.body ?? []) {
  for (const line of new TextDecoder().decode(bytes as Uint8Array).split("\n\n")) {
    if (!line.startsWith("data: {")) continue;
    const part = JSON.parse(line.slice("data: ".length)) as { readonly type: string };
    if (!part.type.startsWith("data-")) console.log("  ", part.type);
    if (part.type !== "tool-approval-request" || isAsked) continue;
    isAsked = true;
    await approve();
  }
}
const wrong = await ask("token-of-shop", "/api/run", { complaint: 7 });
console.log("Wrong input:", wrong.status, (await wrong.text()).slice(0, 60));
console.log("A stranger:", (await ask("unknown-token", "/api/run", {})).status);
reviews.close();
server.close();

/** Does what the page of the shop's staff would do. */
async function approve(): Promise<void> {
  const listed = (await (await ask("token-of-ana", "/api/reviews")).json()) as {
    readonly reviews: readonly { readonly reviewId: string; readonly input: unknown }[];
  };
  for (const { reviewId, input } of listed.reviews) {
    console.log("Ana sees:", input);
    const path = `/api/reviews/${encodeURIComponent(reviewId)}`;
    const decision = { decision: "continue", comment: "a known fault" };
    const answers = [ask("token-of-ana", path, decision), ask("token-of-ana", path, decision)];
    const statuses = (await Promise.all(answers)).map(({ status }) => status).sort();
    console.log("Ana clicks twice:", statuses);
  }
}
