const SOURCE_WORDS: ReadonlySet<string> = new Set([
  "source",
  "file",
  "filename",
  "path",
  "document",
  "doc",
  "title",
  "heading",
  "section",
  "url",
  "uri",
]);

/**
 * Whether a property's name requests a source: `source`, `filePath`, `document_title`, `sources`.
 */
export function isSourceName(name: string): boolean {
  const words = name.split(/(?=[A-Z])|[_\-\s]+/).map((word) => word.toLowerCase());
  return words.some((word) => SOURCE_WORDS.has(word) || SOURCE_WORDS.has(word.replace(/s$/, "")));
}
