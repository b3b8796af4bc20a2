import type {
  ConversationTarget,
  ConversationTargetThread,
  SimulatedUser,
} from "../conversation-target.js";
import type { TargetRunner, TrialRequest, TrialRuns } from "./trial-run.js";
import { ValidationError } from "../../contracts/errors.js";
import { ScoreError } from "../../contracts/evaluation-errors.js";
import { checkOptions, preview, requireInteger, requireText } from "../../contracts/validation.js";
import { asFields, asText } from "../../util/objects.js";
import { modelJson } from "../judges/model-json.js";

const DEFAULT_TURNS = 6;

/** Sends messages to a new thread for each trial, and deletes the thread at the end. */
export function conversationRunner(conversation: ConversationTarget): TargetRunner {
  return {
    perform: async (request, runs) => {
      const thread = conversation.thread(`evaluation-${request.id}`);
      await thread.delete(); // left by an interrupted evaluation
      try {
        return await converse(thread, request, runs);
      } finally {
        await thread.delete();
      }
    },
  };
}

async function converse(
  thread: ConversationTargetThread,
  request: TrialRequest,
  runs: TrialRuns,
): Promise<string> {
  let turns = 0;
  const send = async (message: string): Promise<string> => {
    const options = { ...request.options, runId: `${request.id}-${++turns}` };
    let text = "";
    await runs.of(
      thread.send(message, options).then((result) => {
        ({ text } = result);
        return result.output;
      }),
    );
    return text;
  };
  const { input } = request.case;
  if (typeof input === "string") return send(input);
  if (Array.isArray(input) && input.length > 0 && input.every((text) => typeof text === "string")) {
    let answer = "";
    for (const message of input as readonly string[]) answer = await send(message);
    return answer;
  }
  return converseWith(checkedUser(input), send, request);
}

function checkedUser(input: unknown): SimulatedUser {
  if (asFields(input) === undefined)
    throw new ValidationError(
      `The input of a conversation must be a message, a list of messages or { goal }, got: ${preview(input)}`,
    );
  checkOptions("A simulated user", input, ["goal", "persona", "opening", "maxTurns"]);
  const user = input as SimulatedUser; // its fields are checked next
  requireText(user.goal, "The goal of a simulated user must be a text");
  requireInteger("maxTurns of a simulated user", user.maxTurns, 1);
  if ((user.maxTurns ?? 1) > 50)
    throw new ValidationError(`maxTurns of a simulated user must be at most 50`);
  return user;
}

/**
 * A model simulates the user: its messages are JSON, with a field for whether the goal is reached.
 */
async function converseWith(
  user: SimulatedUser,
  send: (message: string) => Promise<string>,
  request: TrialRequest,
): Promise<string> {
  const { goal, persona = "You are brief and polite.", maxTurns = DEFAULT_TURNS } = user;
  const instructions = [
    "You play a user who talks to an assistant. Write the user's next message, and nothing that an assistant would write.",
    persona,
    `The user's goal: ${goal}`,
    'Answer with JSON: {"message": "...", "done": false}. Set "done" to true as soon as the goal is reached or can\'t be reached.',
  ].join("\n\n");
  const said: string[] = [];
  let answer = "";
  for (let turn = 0; turn < maxTurns; turn++) {
    const next =
      turn === 0 && user.opening !== undefined
        ? { message: user.opening, done: false }
        : nextMessage(await request.ask(instructions, said));
    if (next.done && turn > 0) break;
    answer = await send(next.message);
    said.push(next.message, answer);
  }
  return answer;
}

function nextMessage(text: string): { readonly message: string; readonly done: boolean } {
  const fields = asFields(modelJson(text));
  const message = asText(fields?.["message"]);
  const done = fields?.["done"] === true;
  if (fields !== undefined && (done || message.trim() !== "")) return { message, done };
  throw new ScoreError(
    `The model of the simulated user answered no message: ${preview(text)}`,
    "judge",
  );
}
