/** Whether there is anything to search for; otherwise the latest entries are meant. */
export function isQuestion(query: unknown): query is string {
  return typeof query === "string" && query.trim() !== "";
}
