/** A part of a text that a guard has found. */
export interface Finding {
  /** The kind of the value, for instance `email` or `github token`. */
  readonly kind: string;
  /** The index of the first character. */
  readonly start: number;
  /** The index after the last character. */
  readonly end: number;
}

/** Finds values in a text. Must be fast, because it receives every text. */
export type Detector = (text: string) => readonly Finding[];

/** An action of a guard, for `onFinding`. Contains no part of the text. */
export interface GuardReport {
  /** The name of the guard's plugin, for instance `guards-secrets`. */
  readonly guard: string;
  readonly runId: string;
  readonly taskId: string;
  /** Where the text was found. */
  readonly place: "request" | "response" | "output" | "tool input" | "tool result" | "memory";
  readonly action: "masked" | "marked" | "removed" | "refused" | "approved";
  /** The kinds of the findings, each once. */
  readonly kinds: readonly string[];
}

/** An option of all guards. */
export interface GuardReporting {
  /** Called with each action of the guard. If it throws, the step fails. Default: none. */
  readonly onFinding?: ((report: GuardReport) => void) | undefined;
}

/** Returns the findings in their order. Omits those that overlap an earlier or longer finding. */
function withoutOverlaps(findings: readonly Finding[]): readonly Finding[] {
  if (findings.length < 2) return findings;
  const ordered = [...findings].sort((a, b) => a.start - b.start || b.end - a.end);
  const kept: Finding[] = [];
  for (const finding of ordered) if (finding.start >= (kept.at(-1)?.end ?? 0)) kept.push(finding);
  return kept;
}

/** Returns the text with each finding replaced. */
export function replaceFindings(
  text: string,
  findings: readonly Finding[],
  replacement: (value: string, finding: Finding) => string,
): string {
  let result = "";
  let end = 0;
  for (const finding of withoutOverlaps(findings)) {
    result += text.slice(end, finding.start);
    result += replacement(text.slice(finding.start, finding.end), finding);
    end = finding.end;
  }
  return result + text.slice(end);
}

/**
 * Returns the findings in a text, with their positions in the text. `context` is the text that was
 * shown before.
 */
export function findingsAfter(detect: Detector, text: string, context: string): readonly Finding[] {
  const { length } = context;
  return detect(context + text).flatMap(({ kind, start, end }) =>
    end > length ? { kind, start: Math.max(0, start - length), end: end - length } : [],
  );
}

/** Returns the kinds of the findings, each once. */
export function kindsOf(findings: readonly Finding[]): readonly string[] {
  return [...new Set(findings.map(({ kind }) => kind))];
}

/**
 * Returns the detector with a cache of its last text. An output is read when it is masked and when
 * it is judged.
 */
export function rememberingLast(detect: Detector): Detector {
  let last: { readonly text: string; readonly findings: readonly Finding[] } | undefined;
  return (text) => {
    if (last?.text !== text) last = { text, findings: detect(text) };
    return last.findings;
  };
}
