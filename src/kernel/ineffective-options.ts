import type { EnsembleOptions } from "../contracts/ensemble-options.js";
import type { PlanDraft } from "./plan.js";

/** Options that only these workflows read; workflows of plugins may read any. */
const READERS: readonly {
  readonly options: readonly (keyof EnsembleOptions)[];
  readonly workflows: readonly string[];
}[] = [
  {
    options: [
      "managerModel",
      "managerModelOptions",
      "managerMaxIterations",
      "managerPromptStrategy",
      "hierarchicalConstraints",
    ],
    workflows: ["HIERARCHICAL"],
  },
  {
    options: ["parallelErrorStrategy", "maxConcurrency"],
    workflows: ["PARALLEL", "PHASES", "MAP_REDUCE_ADAPTIVE"],
  },
];
const BUILT_IN = [
  "SEQUENTIAL",
  "PARALLEL",
  "HIERARCHICAL",
  "PHASES",
  "GRAPH",
  "LOOP",
  "MAP_REDUCE_ADAPTIVE",
];

/** Says of each option that is given and can't do anything in this run why that is so. */
export function ineffectiveOptions(
  { plan, unfilled }: PlanDraft,
  workflow: string,
): readonly string[] {
  const names = [...unfilled].map((name) => `{${name}}`).join(", ");
  const literal =
    names === ""
      ? []
      : [
          `Tasks made from items contain ${names}, the name of an input. Their texts are taken as they are and not filled`,
        ];
  return [
    ...literal,
    ...ofTasks(plan),
    ...ofMemory(plan.options),
    ...ofWorkflow(plan.options, workflow),
  ];
}

function ofTasks(plan: PlanDraft["plan"]): readonly string[] {
  return plan.tasks.flatMap(({ spec }) => {
    if (spec.agent === undefined) return [];
    const options = [
      ...(spec.tools.length > 0 ? ["tools"] : []),
      ...(spec.maxIterations !== undefined ? ["maxIterations"] : []),
    ];
    return options.map(
      (option) =>
        `Task '${spec.description}' has an agent of its own, so its option '${option}' has no effect: set it on the agent`,
    );
  });
}

function ofMemory({ memory }: EnsembleOptions): readonly string[] {
  const idle = memory?.longTermMaxResults !== undefined && memory.longTerm === undefined;
  return idle ? ["Option 'memory.longTermMaxResults' has no effect without memory.longTerm"] : [];
}

function ofWorkflow(options: EnsembleOptions, workflow: string): readonly string[] {
  if (!BUILT_IN.includes(workflow)) return [];
  return READERS.filter(({ workflows }) => !workflows.includes(workflow)).flatMap((reader) =>
    reader.options
      .filter((option) => options[option] !== undefined)
      .map(
        (option) =>
          `Option '${option}' has no effect in workflow ${workflow}, only in ${reader.workflows.join(", ")}`,
      ),
  );
}
