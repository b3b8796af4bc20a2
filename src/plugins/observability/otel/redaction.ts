const FAILED = "[not shown: the redact function failed]";
const LIMIT = 16_384;

/**
 * Returns the filter for every text on a span. It removes the known secrets of the run, applies the
 * user's rule, and cuts after 16,384 characters. It returns no text if the rule fails.
 */
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
