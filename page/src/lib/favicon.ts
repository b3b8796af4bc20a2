const LINES = "M4 6h7M4 12h5M4 18h7M18 6h3M16 12h5M18 18h3";

/** Returns the icon of the tab as a data URL, with a mark if reviews are waiting. */
export function faviconOf(waiting: number): string {
  const mark =
    waiting === 0
      ? ""
      : `<circle cx="18" cy="6" r="6" fill="#9a5b00" stroke="none"/><text x="18" y="9" font-size="9" font-family="sans-serif" font-weight="700" text-anchor="middle" fill="#fff" stroke="none">${waiting > 9 ? "9+" : waiting}</text>`;
  const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="#3451d1" stroke-width="2" stroke-linecap="round"><path d="${LINES}"/><circle cx="15" cy="6" r="3"/><circle cx="13" cy="12" r="3"/><circle cx="15" cy="18" r="3"/>${mark}</svg>`;
  return `data:image/svg+xml,${encodeURIComponent(icon)}`;
}
