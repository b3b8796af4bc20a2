/**
 * Returns the reason why an address may not be connected to, in a word or two (`loopback`,
 * `private`, ...); `undefined` for an address of the public internet.
 */
export type AddressJudge = (address: string) => string | undefined;

/** All public addresses of IPv6 begin with these three bits. */
const GLOBAL_UNICAST_BITS = 0b001;

/** Has the form of a public address, but is an internal service of a cloud. */
const CLOUD_SERVICE = "168.63.129.16";

/**
 * Uses ipaddr.js, which is loaded at the first check. Every address that is not public is refused:
 * fail closed.
 */
export async function createAddressJudge(): Promise<AddressJudge> {
  const { default: ipaddr } = await import("ipaddr.js");
  return (address) => {
    if (!ipaddr.isValid(address)) return "no address";
    const parsed = ipaddr.parse(address);
    const range = parsed.range();
    if (range !== "unicast") return range;
    if (parsed.toString() === CLOUD_SERVICE) return "cloud service";
    // Ranges without a name in ipaddr.js: IPv4 addresses in the last bits of `::/96`, and
    // unassigned addresses.
    const isGlobal =
      parsed.kind() === "ipv4" || (parsed.toByteArray()[0] ?? 0) >> 5 === GLOBAL_UNICAST_BITS;
    return isGlobal ? undefined : "unassigned";
  };
}
