/** The decision of a phase's review. */
export type ReviewVerdict =
  | { readonly kind: "approve" }
  | { readonly kind: "retry"; readonly feedback: string }
  | { readonly kind: "retryPredecessor"; readonly phaseName: string; readonly feedback: string }
  | { readonly kind: "reject"; readonly reason: string };

const APPROVE: ReviewVerdict = Object.freeze({ kind: "approve" });

/**
 * Parses a review's text. It contains a keyword in any case, then its reason after the first colon
 * or on the next line. Any other text approves.
 */
export function parseVerdict(raw: string): ReviewVerdict {
  const [, head = "", rest = ""] = /^([^:\n]*)(?:[:\n]([\s\S]*))?$/.exec(raw.trim()) ?? [];
  const text = rest.trim();
  const [keyword = "", ...words] = head.trim().split(/\s+/);
  const phaseName = head.trim().slice(keyword.length).trim();
  switch (keyword.toUpperCase()) {
    case "RETRY":
      return words.length === 0 ? { kind: "retry", feedback: text } : APPROVE;
    case "RETRY_PREDECESSOR":
      return phaseName === "" ? APPROVE : { kind: "retryPredecessor", phaseName, feedback: text };
    case "REJECT":
      return words.length === 0 ? { kind: "reject", reason: text } : APPROVE;
    default:
      return APPROVE;
  }
}
