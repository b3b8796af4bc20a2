/** Why an address may not be connected to, in a word or two (`loopback`, `private`, ...); `undefined` for an address of the public internet. */
export type AddressJudge = (address: string) => string | undefined;

/** All of the IPv6 space that is handed out to the public begins with these three bits. */
const GLOBAL_UNICAST_BITS = 0b001;

/** A public address in form, behind which a cloud answers its machines alone. */
const CLOUD_SERVICE = "168.63.129.16";

/** By ipaddr.js, which is loaded at the first check. Every address that is not public is refused: fail closed. */
export async function createAddressJudge(): Promise<AddressJudge> {
  const { default: ipaddr } = await import("ipaddr.js");
  return (address) => {
    if (!ipaddr.isValid(address)) return "no address";
    const parsed = ipaddr.parse(address);
    const range = parsed.range();
    if (range !== "unicast") return range;
    if (parsed.toString() === CLOUD_SERVICE) return "cloud service";
    // What ipaddr.js has no name for: IPv4 addresses in the last bits of `::/96`, and all that has not been assigned.
    const isGlobal =
      parsed.kind() === "ipv4" || (parsed.toByteArray()[0] ?? 0) >> 5 === GLOBAL_UNICAST_BITS;
    return isGlobal ? undefined : "unassigned";
  };
}
