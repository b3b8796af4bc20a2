const LONGEST = 200;

/** An address as it may stand in a message: no user, no password, nothing of the query or the fragment, at most 200 characters. */
export function shownUrl(url: URL): string {
  const text = `${url.protocol}//${url.host}${url.pathname}`;
  const cut = text.length > LONGEST ? `${text.slice(0, LONGEST)}...` : text;
  return url.search === "" ? cut : `${cut}?...`;
}

/** The same for a text that may be no address at all. */
export function shownAddress(text: string): string {
  if (URL.canParse(text)) return shownUrl(new URL(text));
  const withoutQuery = text.replace(/[?#][^]*$/, "?...");
  const withoutUser = withoutQuery.replace(/^[^]*@/, "...@");
  return withoutUser.length > LONGEST ? `${withoutUser.slice(0, LONGEST)}...` : withoutUser;
}
