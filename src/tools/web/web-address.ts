import { BlockList, isIPv4, isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'

// Everything except the public internet, by the registries of special-purpose addresses, and metadata addresses of
// clouds.
const PRIVATE_V4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]

// Of IPv6 only global unicast (2000::/3) is public: loopback, mapped and translated IPv4, unique-local, link-local and
// multicast addresses are outside. Inside it, these contain IPv4 addresses or are unassigned.
const PRIVATE_V6: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['2620:4f:8000::', 48],
  ['3fff::', 20],
]

const privateV4 = new BlockList()
for (const [net, prefix] of PRIVATE_V4) privateV4.addSubnet(net, prefix, 'ipv4')
const globalV6 = new BlockList()
globalV6.addSubnet('2000::', 3, 'ipv6')
const privateV6 = new BlockList()
for (const [net, prefix] of PRIVATE_V6) privateV6.addSubnet(net, prefix, 'ipv6')

/**
 * True only for an address of the public internet that is not this machine's own. An unrecognised address is not
 * public.
 */
export function isPublicAddress(address: string): boolean {
  if (address.includes('%')) return false
  if (isIPv4(address)) return !privateV4.check(address, 'ipv4') && !isOwn(address, 'ipv4')
  if (!isIPv6(address)) return false
  return globalV6.check(address, 'ipv6') && !privateV6.check(address, 'ipv6') && !isOwn(address, 'ipv6')
}

// Looked up each time: an interface can come up while the server runs.
function isOwn(address: string, family: 'ipv4' | 'ipv6'): boolean {
  const own = new BlockList()
  for (const one of Object.values(networkInterfaces()).flat())
    if (one !== undefined && one.family.toLowerCase() === family)
      own.addAddress(one.address.split('%')[0] ?? '', family)
  return own.check(address, family)
}
