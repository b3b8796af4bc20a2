const FAILED = "[not shown: the redact function failed]";
const LIMIT = 16_384;

/** What every text of a run goes through before it stands on a span: the secrets that the run knows of, then the user's own rule, then cut at 16,384 characters. Fails closed. */
export function textRedactor(
  own: ((text: string) => string) | undefined,
  failed: (error: unknown) => void,
): (text: string, withoutSecrets: (text: string) => string) => string {
  return (text, withoutSecrets) => {
    const clean = withoutSecrets(text);
    try {
      const shown: unknown = own === undefined ? clean : own(clean);
      if (typeof shown !== "string") throw new TypeError("otel redact must return a text");
      return shown.length > LIMIT ? `${shown.slice(0, LIMIT)}...` : shown;
    } catch (error) {
      failed(error);
      return FAILED;
    }
  };
}
