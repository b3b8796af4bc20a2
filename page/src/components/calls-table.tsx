import type { JSX } from "preact";
import type { ModelTurn, Turn } from "../lib/conversation-types.js";
import { formatCost, formatCount, formatDuration } from "../lib/format.js";
import { shortModel } from "../lib/task-words.js";
import { Empty } from "./empty.js";

export interface CallsTableProps {
  readonly turns: readonly Turn[];
  /** Shows a call in the conversation. */
  readonly onCall: (call: number) => void;
}

const tokens = (count: number): string => (count < 0 ? "unknown" : formatCount(count));

/** The model calls of a task. */
export function CallsTable({ turns, onCall }: CallsTableProps): JSX.Element {
  const calls = turns.filter((turn): turn is ModelTurn => turn.kind === "model");
  if (calls.length === 0) return <Empty icon="model" title="No model calls" />;
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label="Model calls">
      <table>
        <thead>
          <tr>
            <th>Call</th>
            <th>Model</th>
            <th class="num">In</th>
            <th class="num">Out</th>
            <th class="num">Time</th>
            <th class="num">Cost</th>
          </tr>
        </thead>
        <tbody>
          {calls.map(
            ({ call, n, model, inputTokens, outputTokens, durationMs, cost, currency, error }) => (
              <tr key={n}>
                <td>
                  <button type="button" class="btn bare" onClick={() => onCall(call)}>
                    {call}
                  </button>
                </td>
                <td>
                  {error === undefined ? (
                    shortModel(model)
                  ) : (
                    <span class="st failed">{error.code}</span>
                  )}
                </td>
                <td class="num">{tokens(inputTokens)}</td>
                <td class="num">{tokens(outputTokens)}</td>
                <td class="num">{formatDuration(durationMs)}</td>
                <td class="num">{cost === undefined ? "" : formatCost(cost, currency)}</td>
              </tr>
            ),
          )}
        </tbody>
      </table>
    </div>
  );
}
