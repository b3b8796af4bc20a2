/** Returns the contents of fenced blocks without their language tag. */
export function fencedBlocks(text: string): string[] {
  const blocks: string[] = [];
  for (let open = text.indexOf("```"); open >= 0;) {
    const close = text.indexOf("```", open + 3);
    if (close < 0) break;
    blocks.push(
      text
        .slice(open + 3, close)
        .replace(/^[\w+-]{1,30}(?=\s)/, "")
        .trim(),
    );
    open = text.indexOf("```", close + 3);
  }
  return blocks;
}

/** Returns the text without a leading reasoning block. */
export function withoutThinking(text: string): string {
  let rest = text.trim();
  while (rest.startsWith("<think>")) {
    const end = rest.indexOf("</think>");
    if (end < 0) break;
    rest = rest.slice(end + "</think>".length).trim();
  }
  return rest;
}
