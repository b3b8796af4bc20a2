// The team and its access control. Without OPENAI_API_KEY, a scripted model answers, so the program
// needs no key.
import { Ensemble, Task, type Principal } from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";

const model =
  process.env["OPENAI_API_KEY"] === undefined
    ? new ScriptedModel(() => "A swift sleeps in the air.")
    : "openai:gpt-5-mini";

export const team = new Ensemble({
  name: "answers",
  model,
  tasks: [Task.of("Answer in one sentence: {question}")],
});

/** Admits requests with the token of APP_TOKEN. Refuses all requests without APP_TOKEN. */
export function authenticate(request: Request): Principal | undefined {
  const token = process.env["APP_TOKEN"] ?? "";
  return token !== "" && request.headers.get("authorization") === `Bearer ${token}`
    ? { name: "app", role: "caller" }
    : undefined;
}
