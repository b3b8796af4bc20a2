/** Returns a request as a command for a shell. The command names the token without showing it. */
export function curlOf(origin: string, path: string, body: unknown, needsToken: boolean): string {
  const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
  return [
    `curl -X POST ${quoted(`${origin}${path}`)}`,
    needsToken
      ? `-H "authorization: Bearer $BOARD_TOKEN"`
      : `-H ${quoted(`origin: ${new URL(origin).origin}`)}`,
    `-H ${quoted("content-type: application/json")}`,
    `-d ${quoted(JSON.stringify(body))}`,
  ].join(" \\\n  ");
}
