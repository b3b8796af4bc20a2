import { Ensemble, Task, tool, type Plugin } from "agentensemble";
import {
  answerLength,
  canary,
  jsonOnly,
  language,
  links,
  personalData,
  promptInjection,
  quotations,
  secrets,
  topics,
  type GuardReport,
} from "agentensemble/guards";
import {
  ALLOWED_HOSTS,
  CANARY,
  canaryCases,
  DENIED_TOPICS,
  jsonCases,
  languageCases,
  lengthCases,
  linkCases,
  quotationCases,
  QUOTED_SOURCES,
  topicCases,
} from "./form-cases.js";
import { identityCases } from "./identity-cases.js";
import { injectionCases } from "./injection-cases.js";
import { isHeldOut, type LabelledCase } from "./labelled-case.js";
import { personalCases } from "./personal-cases.js";
import { ABOUT_KEYS, PLAIN_SENTENCES } from "./readme-sentences.js";
import { secretCases } from "./secret-cases.js";

type OnFinding = (report: GuardReport) => void;

/** A guard with its labelled set. */
export interface LabelledGuard {
  readonly name: string;
  readonly cases: readonly LabelledCase[];
  /** Lowest precision and recall on the held-out half. */
  readonly goal?: { readonly precision: number; readonly recall: number };
  /** Whether the guard reads results of tools. Otherwise it reads outputs of tasks. */
  readonly readsTools?: boolean;
  make(onFinding: OnFinding): Plugin;
}

/** The guards in the order of the table. */
export const LABELLED_GUARDS: readonly LabelledGuard[] = [
  {
    name: "personalData: cards, IBANs, identity numbers",
    cases: identityCases(),
    goal: { precision: 0.98, recall: 0.95 },
    make: (onFinding) =>
      personalData({ action: "refuse", kinds: ["card", "iban", "identity"], onFinding }),
  },
  {
    name: "personalData: mail, phone",
    cases: personalCases(),
    make: (onFinding) =>
      personalData({
        action: "refuse",
        kinds: ["email", "phone"],
        phoneRegions: ["US", "DE", "FR"],
        onFinding,
      }),
  },
  {
    name: "secrets",
    cases: secretCases([...ABOUT_KEYS, ...PLAIN_SENTENCES.slice(0, 36)]),
    goal: { precision: 0.98, recall: 0.95 },
    make: (onFinding) => secrets({ action: "refuse", onFinding }),
  },
  {
    name: "promptInjection",
    readsTools: true,
    cases: injectionCases(),
    make: (onFinding) => promptInjection({ action: "refuse", onFinding }),
  },
  {
    name: "links",
    cases: linkCases(),
    make: (onFinding) => links({ hosts: ALLOWED_HOSTS, action: "refuse", onFinding }),
  },
  {
    name: "topics",
    cases: topicCases(),
    make: (onFinding) => topics({ deny: DENIED_TOPICS, onFinding }),
  },
  {
    name: "language",
    cases: languageCases(),
    make: (onFinding) => language({ allow: ["en", "fr"], onFinding }),
  },
  {
    name: "answerLength",
    cases: lengthCases(),
    make: (onFinding) => answerLength({ maxWords: 12, onFinding }),
  },
  { name: "jsonOnly", cases: jsonCases(), make: (onFinding) => jsonOnly({ onFinding }) },
  {
    name: "quotations",
    cases: quotationCases(),
    make: (onFinding) => quotations({ sources: QUOTED_SOURCES, onFinding }),
  },
  {
    name: "canary",
    cases: canaryCases(),
    make: (onFinding) => canary({ words: [CANARY], onFinding }),
  },
];

/** The result of a guard on a part of its set. */
export interface Measured {
  readonly name: string;
  readonly cases: number;
  readonly outside: number;
  readonly heldOut: number;
  readonly precision: number;
  readonly recall: number;
  readonly mistakes: readonly LabelledCase[];
}

/** Runs each case through the guard as the output of a task. */
export async function measureGuard(
  { name, cases, make, readsTools = false }: LabelledGuard,
  part: (one: LabelledCase) => boolean = isHeldOut,
): Promise<Measured> {
  let isFound = false;
  let given = "";
  const give = tool({ name: "give", description: "Gives a text", execute: () => given });
  await using team = new Ensemble({
    plugins: [make(() => (isFound = true))],
    tasks: [new Task({ description: "Give a text", handler: readsTools ? give : () => given })],
  });
  const counts = { hit: 0, missed: 0, wrong: 0 };
  const mistakes: LabelledCase[] = [];
  const chosen = cases.filter(part);
  for (const one of chosen) {
    isFound = false;
    given = one.text;
    await team.run({}, { throwOnError: false });
    if (isFound && one.isPositive) counts.hit++;
    else if (isFound) counts.wrong++;
    else if (one.isPositive) counts.missed++;
    if (isFound !== one.isPositive) mistakes.push(one);
  }
  const { hit, missed, wrong } = counts;
  const outside = cases.filter(({ source }) => source !== undefined).length;
  return {
    name,
    cases: cases.length,
    outside,
    heldOut: chosen.length,
    precision: hit / (hit + wrong),
    recall: hit / (hit + missed),
    mistakes,
  };
}

/** Returns the table of the documentation. */
export function guardTable(rows: readonly Measured[]): string {
  const percent = (part: number): string => part.toFixed(3);
  return [
    "| guard | cases | from outside | held out | precision | recall |",
    "|---|---|---|---|---|---|",
    ...rows.map(
      (row) =>
        `| ${row.name} | ${row.cases} | ${Math.round((100 * row.outside) / row.cases)} % | ${row.heldOut} | ${percent(row.precision)} | ${percent(row.recall)} |`,
    ),
  ].join("\n");
}
