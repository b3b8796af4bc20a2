import type { JSX } from "preact";
import { formatCost, formatCount } from "../lib/format.js";
import type { CostLine } from "../lib/run/cost-rows.js";
import { Text } from "./text.js";

export interface CostTableProps {
  /** The kind of the rows: `agent`, `model`. */
  readonly title: string;
  /** The subject of the counted calls, if it is not the run. */
  readonly of?: string | undefined;
  readonly lines: readonly CostLine[];
  readonly currency: string | undefined;
  /** Whether anything has a price. */
  readonly isPriced: boolean;
  readonly onTask?: ((taskId: string) => void) | undefined;
}

/** Tokens and cost by one property, the most expensive first. */
export function CostTable(props: CostTableProps): JSX.Element {
  const { title, of = "", lines, currency, isPriced, onTask } = props;
  const hasWaste = lines.some(({ wastedTokens = 0 }) => wastedTokens > 0);
  return (
    <section class="card cost">
      <header>
        <h3>
          By {title}
          {of}
        </h3>
      </header>
      <div class="wide" tabIndex={0} role="group" aria-label={`By ${title}`}>
        <table>
          <thead>
            <tr>
              <th scope="col">{title}</th>
              <th scope="col" class="num hide-s">
                calls
              </th>
              <th scope="col" class="num">
                in
              </th>
              <th scope="col" class="num">
                out
              </th>
              {hasWaste && (
                <th
                  scope="col"
                  class="num"
                  title="Used by attempts that failed; a part of the sums"
                >
                  in vain
                </th>
              )}
              {isPriced && (
                <th scope="col" class="num">
                  cost
                </th>
              )}
              <th scope="col" class="share">
                <span class="sr-only">share</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {lines.map((line) => (
              <Line key={line.name} {...{ line, currency, isPriced, hasWaste, onTask }} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

interface LineProps extends Pick<CostTableProps, "currency" | "isPriced" | "onTask"> {
  readonly line: CostLine;
  readonly hasWaste: boolean;
}

function Line({ line, currency, isPriced, hasWaste, onTask }: LineProps): JSX.Element {
  const {
    name,
    title = name,
    taskId,
    calls,
    inputTokens,
    outputTokens,
    cost,
    share,
    wastedTokens = 0,
  } = line;
  const shown = <Text>{title === "" ? "(none)" : title}</Text>;
  return (
    <tr>
      <td class="clip">
        {taskId === undefined || onTask === undefined ? (
          shown
        ) : (
          <button type="button" class="plain-link" onClick={() => onTask(taskId)}>
            {shown}
          </button>
        )}
      </td>
      <td class="num hide-s">{formatCount(calls)}</td>
      <td class="num">{tokens(inputTokens, line)}</td>
      <td class="num">{tokens(outputTokens, line)}</td>
      {hasWaste && <td class="num faint">{wastedTokens === 0 ? "" : formatCount(wastedTokens)}</td>}
      {isPriced && <td class="num">{amount(cost, line, currency)}</td>}
      <td class="share">
        <span class="meter" aria-hidden="true">
          <i class="accent" style={{ width: `${share * 100}%` }} />
        </span>
      </td>
    </tr>
  );
}

/** Returns the text of a count. Usage that no call reported is unknown, not 0. */
function tokens(count: number, { unknownCalls, calls }: CostLine): JSX.Element {
  if (unknownCalls === 0) return <>{formatCount(count)}</>;
  if (unknownCalls >= calls) return <span class="faint">unknown</span>;
  return (
    <span title={`${unknownCalls} calls did not report their usage`}>
      {formatCount(count)} + unknown
    </span>
  );
}

function amount(cost: number, line: CostLine, currency: string | undefined): JSX.Element {
  if (line.unknownCalls >= line.calls) return <span class="faint">unknown</span>;
  const more = line.unknownCalls === 0 ? "" : " + unknown";
  return <>{`${formatCost(cost, currency)}${more}`}</>;
}
