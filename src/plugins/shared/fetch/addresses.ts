/**
 * Returns in one or two words why no connection to an address is allowed (`loopback`, `private`,
 * ...). Returns `undefined` for an address of the public internet.
 */
export type AddressJudge = (address: string) => string | undefined;

/** All public addresses of IPv6 begin with these three bits. */
const GLOBAL_UNICAST_BITS = 0b001;

/** An internal service of Azure. Its address has the form of a public one. */
const CLOUD_SERVICE = "168.63.129.16";

/** Loads ipaddr.js. The returned function refuses every address that is not public. */
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
