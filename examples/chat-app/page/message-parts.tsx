import {
  getToolName,
  isToolUIPart,
  type DynamicToolUIPart,
  type ToolUIPart,
  type UIMessage,
} from "ai";
import type { JSX } from "react";

interface MessagePartsProps {
  readonly message: UIMessage;
  readonly onApproval: (approvalId: string, approved: boolean) => void;
}

/** Shows the parts of a message: texts, files, tool calls. */
export function MessageParts({ message, onApproval }: MessagePartsProps): JSX.Element {
  return (
    <>
      {message.parts.map((part, index) => {
        if (part.type === "text") return <p key={index}>{part.text}</p>;
        if (part.type === "file") return <File key={index} {...part} />;
        if (isToolUIPart(part))
          return <ToolCall key={part.toolCallId} call={part} onApproval={onApproval} />;
        return null;
      })}
    </>
  );
}

function File({
  url,
  mediaType,
  filename,
}: {
  readonly url: string;
  readonly mediaType: string;
  readonly filename?: string;
}): JSX.Element {
  return mediaType.startsWith("image/") ? (
    <img src={url} alt={filename ?? "attachment"} width={64} />
  ) : (
    <p>
      <small>{filename ?? mediaType}</small>
    </p>
  );
}

function ToolCall({
  call,
  onApproval,
}: {
  readonly call: DynamicToolUIPart | ToolUIPart;
  readonly onApproval: MessagePartsProps["onApproval"];
}): JSX.Element {
  const name = getToolName(call);
  return (
    <div className="tool" data-tool={name} data-state={call.state}>
      {call.title ?? name} <small>{inputText(call.input)}</small>
      {call.state === "output-available" && <div>{textOf(call.output)}</div>}
      {call.state === "output-error" && <div>{call.errorText}</div>}
      {call.state === "output-denied" && <div>Refused</div>}
      {call.state === "approval-requested" && (
        <div>
          <button className="main" onClick={() => onApproval(call.approval.id, true)}>
            Approve
          </button>
          <button onClick={() => onApproval(call.approval.id, false)}>Refuse</button>
        </div>
      )}
    </div>
  );
}

/** Returns the input of a tool call as `name: value`. */
function inputText(input: unknown): string {
  return Object.entries(input ?? {})
    .map(([name, value]) => `${name}: ${textOf(value)}`)
    .join(", ");
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
