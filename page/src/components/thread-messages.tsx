import type { JSX } from "preact";
import type { ThreadMessageInfo } from "../../../src/plugins/dashboard/protocol/thread-bodies.js";
import { formatTime } from "../lib/format.js";
import { hrefOf } from "../lib/route.js";
import { visibleText } from "../lib/visible-text.js";
import { useBoard } from "../stores/board.js";
import { Code } from "./code.js";
import { State } from "./state.js";
import { TurnFrame } from "./turn.js";
import { Written } from "./written.js";

const LOOKS = {
  user: ["", "user"],
  assistant: ["model", "model"],
  tool: ["tool", "tool"],
} as const;

/** The messages of a thread. Each turn has a link to its run. */
export function ThreadMessages(props: {
  readonly messages: readonly ThreadMessageInfo[];
}): JSX.Element {
  const { messages } = props;
  return (
    <>
      {messages.map((message, i) => (
        <div key={message.id}>
          {message.runId !== messages[i - 1]?.runId && <RunOf message={message} />}
          <Message message={message} />
        </div>
      ))}
    </>
  );
}

/** The run of a turn, with its state if the page has received it. */
function RunOf({ message }: { readonly message: ThreadMessageInfo }): JSX.Element {
  const { runs } = useBoard();
  const { runId, at } = message;
  const run = runs.summaryOf(runId);
  return (
    <p class="row thread-run muted">
      <a class="link" href={hrefOf(["runs", runId])}>
        Run <code>{visibleText(runId.slice(0, 8))}</code>
      </a>
      {run !== undefined && <State state={run.state} />}
      <span class="grow" />
      <time dateTime={at}>{formatTime(at)}</time>
    </p>
  );
}

function Message({ message }: { readonly message: ThreadMessageInfo }): JSX.Element {
  const { role, agentRole, text, files = [], calls = [] } = message;
  const [look, icon] = LOOKS[role];
  const name = role === "user" ? "User" : (agentRole ?? "Agent");
  const title = role === "tool" ? `Result for ${name}` : name;
  return (
    <TurnFrame look={look} icon={icon} title={visibleText(title)}>
      {text !== "" && <Written text={text} isMarkdown={role !== "user"} />}
      {files.map((type, i) => (
        <p key={i} class="muted">
          File: {visibleText(type)}
        </p>
      ))}
      {calls.map((call, i) => (
        <div key={i}>
          <p class="muted">
            Calls <code>{visibleText(call.name)}</code>
          </p>
          <Code value={call.arguments} />
        </div>
      ))}
    </TurnFrame>
  );
}
