const LONGEST = 200;

/**
 * Returns a URL in its form for messages: without user, password, query and fragment. At most 200
 * characters.
 */
export function shownUrl(url: URL): string {
  const text = `${url.protocol}//${url.host}${url.pathname}`;
  const cut = text.length > LONGEST ? `${text.slice(0, LONGEST)}...` : text;
  return url.search === "" ? cut : `${cut}?...`;
}

/** Like `shownUrl`, for a text that may not be a URL. */
export function shownAddress(text: string): string {
  if (URL.canParse(text)) return shownUrl(new URL(text));
  const withoutQuery = text.replace(/[?#][^]*$/, "?...");
  const withoutUser = withoutQuery.replace(/^[^]*@/, "...@");
  return withoutUser.length > LONGEST ? `${withoutUser.slice(0, LONGEST)}...` : withoutUser;
}
