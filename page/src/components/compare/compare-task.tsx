import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { TaskComparison } from "../../../../src/plugins/dashboard/protocol/compare.js";
import { figureRows, outputText, promptText, toolText } from "../../lib/compare-words.js";
import { visibleText } from "../../lib/visible-text.js";
import { useBoard } from "../../stores/board.js";
import { Chip } from "../chip.js";
import { Empty } from "../empty.js";
import { Icon } from "../icon.js";
import { Segments } from "../segments.js";
import { Tabs } from "../tabs.js";
import { TextDiff, WordDiff } from "../review/word-diff.js";

const PARTS = ["output", "prompt", "figures", "tools"] as const;
type PartName = (typeof PARTS)[number];
const TITLES: Readonly<Record<PartName, string>> = {
  output: "Output",
  prompt: "Prompt",
  figures: "Calls",
  tools: "Tools",
};
const TEXTS = { output: outputText, prompt: promptText, tools: toolText } as const;

export interface CompareTaskProps {
  readonly task: TaskComparison;
  readonly currencies: readonly [a: string | undefined, b: string | undefined];
  readonly onClose: () => void;
}

/** The differences between the two sides of a task. */
export function CompareTask({ task, currencies, onClose }: CompareTaskProps): JSX.Element {
  const [part, setPart] = useState<PartName>("output");
  const { a, b } = task;
  const isChanged = (name: PartName): boolean =>
    name !== "figures" && TEXTS[name](a) !== TEXTS[name](b);
  return (
    <section class="pane inspector" aria-label="Comparison of the task">
      <div class="pane-head">
        <div class="row">
          <h2 class="grow">{visibleText((b ?? a)?.taskId ?? "")}</h2>
          <button
            type="button"
            class="btn bare icon"
            aria-label="Close"
            title="Close (Escape)"
            onClick={onClose}
          >
            <Icon name="close" />
          </button>
        </div>
        {task.changes.length > 0 && <p class="muted">changed: {task.changes.join(", ")}</p>}
      </div>
      <Tabs
        label="Parts of the comparison"
        panel="compare-part"
        selected={part}
        onSelect={setPart}
        tabs={PARTS.map((id) => ({
          id,
          title: TITLES[id],
          extra: isChanged(id) && <Chip kind="waiting">changed</Chip>,
        }))}
      />
      <div
        id="compare-part"
        class="scroll pane-head"
        role="tabpanel"
        aria-label={TITLES[part]}
        tabIndex={0}
      >
        {part === "figures" ? (
          <Figures task={task} currencies={currencies} />
        ) : (
          <Difference key={part} before={TEXTS[part](a)} after={TEXTS[part](b)} />
        )}
      </div>
    </section>
  );
}

function Difference({
  before,
  after,
}: {
  readonly before: string;
  readonly after: string;
}): JSX.Element {
  const { env } = useBoard();
  const [look, setLook] = useState(env.local.read("agentensemble.diff") ?? "words");
  if (before === "" && after === "")
    return <Empty icon="doc" title="Neither run has such a text" />;
  const choose = (name: string): void => {
    env.local.write("agentensemble.diff", name === "words" ? undefined : name);
    setLook(name);
  };
  const Diff = look === "words" ? TextDiff : WordDiff;
  return (
    <div class="col">
      <div class="row diff-look">
        <Segments
          label="Form of the difference"
          selected={look}
          onSelect={choose}
          options={[
            { id: "words", title: "in the text" },
            { id: "lines", title: "line by line" },
          ]}
        />
      </div>
      <Diff before={before} after={after} nothing="No difference." />
    </div>
  );
}

function Figures({ task: { a, b }, currencies }: Omit<CompareTaskProps, "onClose">): JSX.Element {
  return (
    <table>
      <thead>
        <tr>
          <th>Figure</th>
          <th class="num">A</th>
          <th class="num">B</th>
          <th class="num">Change</th>
        </tr>
      </thead>
      <tbody>
        {[
          ...figureRows(a, b, currencies),
          { name: "attempt", a: String(a?.attempt ?? ""), b: String(b?.attempt ?? ""), change: "" },
          { name: "model", a: a?.model ?? "", b: b?.model ?? "", change: "" },
        ].map((row) => (
          <tr key={row.name}>
            <td>{row.name}</td>
            <td class="num">{visibleText(row.a)}</td>
            <td class="num">{visibleText(row.b)}</td>
            <td class="num">{row.change}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
