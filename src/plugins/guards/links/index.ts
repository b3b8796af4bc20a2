import type { Plugin } from "../../../contracts/plugin.js";
import { ValidationError } from "../../../contracts/errors.js";
import { requireOneOf } from "../../../contracts/validation.js";
import { HostList } from "../../shared/fetch/host-rules.js";
import type { GuardReporting } from "../shared/findings.js";
import { checkGuardOptions } from "../shared/guarded-tasks.js";
import { maskingGuard } from "../shared/masking-guard.js";
import { isLinkLike, linkDetector, plainLinkWords } from "./link-detector.js";

/** Options of {@link links}. */
export interface LinksOptions extends GuardReporting {
  /**
   * The allowed hosts of links: `example.com`, `*.example.com` (all names below it),
   * `localhost:8080`. An empty list allows no links.
   */
  readonly hosts: readonly string[];
  /**
   * `mask` (default): other links in outputs are replaced by `[link removed]`. `refuse`: the task
   * fails.
   */
  readonly action?: "mask" | "refuse" | undefined;
}

/**
 * Allows only links to the given hosts in outputs, streams and tool inputs. A link to another host
 * can leak text when a page shows an image or a person opens the link. Links with a user name or a
 * password, and `javascript:`, `data:` and `file:` links are never allowed.
 *
 * @throws ValidationError for an unknown option or an invalid host.
 */
export function links(options: LinksOptions): Plugin {
  checkGuardOptions("links", options, ["hosts", "action"]);
  requireOneOf("links action", options.action, ["mask", "refuse"]);
  if ((options.hosts as unknown) === undefined)
    throw new ValidationError("links needs hosts: a list of the hosts that links may lead to");
  const detect = linkDetector(new HostList("links hosts", options.hosts));
  return maskingGuard(options, {
    name: "guards-links",
    detect,
    mask: "[link removed]",
    found: (kinds) => `a ${kinds.join(", ")} to a host that is not allowed`,
    context: 0,
    quick: plainLinkWords,
    isSuspect: isLinkLike,
    toolInputs: true,
    toolResults: false,
  });
}
