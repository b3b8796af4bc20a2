import type { HttpRoute, Principal } from "../../../contracts/http-route.js";
import type { Fields } from "../../../util/objects.js";
import type { ReportAnswerFrame } from "../protocol/report-messages.js";
import { asCount, asFields, asList, asText } from "../../../util/objects.js";
import { isAdmitted, routesOf } from "../../shared/http/routes.js";
import { PASSED_ON } from "../protocol/report-messages.js";

const ROLES: readonly unknown[] = ["viewer", "reviewer", "operator"];

/**
 * Executes a request of a board for a user. Sends it to the same route of this process, with the
 * role of the user.
 */
export async function answerBoard(
  routes: readonly HttpRoute[],
  request: Fields,
): Promise<ReportAnswerFrame> {
  const id = asCount(request["id"]) ?? 0;
  const response = await carriedOut(routes, request);
  return { type: "answer", id, status: response.status, body: await response.text() };
}

async function carriedOut(
  routes: readonly HttpRoute[],
  { method, path, body, user, key }: Fields,
): Promise<Response> {
  const principal = principalIn(asFields(user));
  const [pathname = ""] = asText(path).split("?");
  const found = routesOf(routes, pathname).find(
    ({ route }) => route.method === method && PASSED_ON.has(`${route.method} ${route.path}`),
  );
  if (found === undefined || principal === undefined)
    return deniedAnswer(404, "NOT_FOUND", "The process has no such route");
  if (!isAdmitted(principal, found.route.role)) return deniedAnswer(403, "FORBIDDEN", "Forbidden");
  const asked = new Request(`http://localhost${asText(path)}`, {
    method: found.route.method,
    ...(method === "POST" && {
      headers: {
        "content-type": "application/json",
        ...(typeof key === "string" && { "idempotency-key": key }),
      },
      body: JSON.stringify(body ?? {}),
    }),
  });
  try {
    return await found.route.handle(asked, principal, found.parameters);
  } catch {
    return deniedAnswer(500, "INTERNAL", "Internal server error");
  }
}

function principalIn(user: Fields | undefined): Principal | undefined {
  const { name, role, reviewRoles, owner } = user ?? {};
  if (typeof name !== "string" || !ROLES.includes(role)) return undefined;
  return {
    name,
    role: role as Principal["role"], // one of the list
    reviewRoles: asList(reviewRoles).filter((one) => typeof one === "string"),
    ...(typeof owner === "string" && { owner }),
  };
}

function deniedAnswer(status: number, error: string, message: string): Response {
  return Response.json({ error, message }, { status });
}
