import type { Token, Tokens } from "marked";
import { createElement, type ComponentChildren, type JSX } from "preact";
import { useMemo } from "preact/hooks";
import { safeAddress } from "../lib/markdown-safety.js";
import { markdownTokens } from "../lib/markdown-tokens.js";
import { Code } from "./code.js";
import { PlainText } from "./plain-text.js";
import { Text } from "./text.js";

/**
 * Converts Markdown of a model to elements. HTML in it is shown as text, images become links, and
 * links show their address.
 */
export function MarkdownText({ text }: { readonly text: string }): JSX.Element {
  const tokens = useMemo(() => markdownTokens(text), [text]);
  if (tokens === undefined) return <PlainText text={text} />;
  return <div class="prose">{blocks(tokens)}</div>;
}

type Draw<T> = (token: T) => ComponentChildren;

/** Elements by the type of their token. Other types are shown as their source text. */
const DRAW: { readonly [type: string]: Draw<never> | undefined } = {
  space: () => null,
  def: () => null,
  hr: () => <hr />,
  br: () => <br />,
  heading: ({ depth, tokens }: Tokens.Heading) =>
    createElement(`h${Math.min(5, depth + 2)}`, {}, blocks(tokens)),
  paragraph: ({ tokens }: Tokens.Paragraph) => <p>{blocks(tokens)}</p>,
  blockquote: ({ tokens }: Tokens.Blockquote) => <blockquote>{blocks(tokens)}</blockquote>,
  code: ({ text }: Tokens.Code) => <Code value={text} />,
  list: ({ ordered, start, items }: Tokens.List) =>
    ordered ? (
      <ol start={start === "" ? 1 : start}>{items.map(listItem)}</ol>
    ) : (
      <ul>{items.map(listItem)}</ul>
    ),
  table: table,
  text: ({ tokens, text }: Tokens.Text) =>
    tokens === undefined ? <Text>{unescaped(text)}</Text> : blocks(tokens),
  escape: ({ text }: Tokens.Escape) => <Text>{text}</Text>,
  strong: ({ tokens }: Tokens.Strong) => <strong>{blocks(tokens)}</strong>,
  em: ({ tokens }: Tokens.Em) => <em>{blocks(tokens)}</em>,
  del: ({ tokens }: Tokens.Del) => <s>{blocks(tokens)}</s>,
  codespan: ({ text }: Tokens.Codespan) => (
    <code>
      <Text>{text}</Text>
    </code>
  ),
  link: ({ href, tokens, text }: Tokens.Link) => (
    <Address href={href} isShown={text !== href}>
      {blocks(tokens)}
    </Address>
  ),
  image: ({ href, text }: Tokens.Image) => (
    <Address href={href} isShown>
      {`[image: ${text}]`}
    </Address>
  ),
};

function blocks(tokens: readonly Token[]): ComponentChildren {
  return tokens.map((token, i) => {
    const draw = DRAW[token.type] as Draw<Token> | undefined; // the table is indexed by the type
    return <Piece key={i}>{draw === undefined ? <Text>{token.raw}</Text> : draw(token)}</Piece>;
  });
}

function Piece({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return <>{children}</>;
}

function listItem({ task, checked, tokens }: Tokens.ListItem, i: number): JSX.Element {
  return (
    <li key={i}>
      {task && (checked === true ? "☑ " : "☐ ")}
      {blocks(tokens.filter(({ type }) => type !== "checkbox"))}
    </li>
  );
}

function table({ header, rows }: Tokens.Table): JSX.Element {
  return (
    <table>
      <thead>
        <tr>
          {header.map(({ tokens }, i) => (
            <th key={i}>{blocks(tokens)}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((cells, i) => (
          <tr key={i}>
            {cells.map(({ tokens }, j) => (
              <td key={j}>{blocks(tokens)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface AddressProps {
  readonly href: string;
  /** Whether the address is shown after the text. */
  readonly isShown: boolean;
  readonly children: ComponentChildren;
}

/**
 * A link to another page. Shows text and address without a link if a browser should not open the
 * address.
 */
function Address({ href, isShown, children }: AddressProps): JSX.Element {
  const url = safeAddress(href);
  const shown = isShown && (
    <span class="address">
      {" ("}
      <Text>{href}</Text>
      {")"}
    </span>
  );
  return (
    <>
      {url === undefined ? (
        children
      ) : (
        <a href={url} target="_blank" rel="noopener noreferrer">
          {children}
        </a>
      )}
      {shown}
    </>
  );
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
};

/** Decodes named entities: the lexer decodes only numeric entities. */
function unescaped(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot);/g, (entity) => ENTITIES[entity] ?? entity);
}
