import { networkInterfaces } from 'node:os'
import { describe, expect, it } from 'vitest'
import { isPublicAddress } from '../../../src/tools/web/web-address.js'
import { readTarget } from '../../../src/tools/web/web-target.js'

describe('addresses', () => {
  it.each([
    ['this network', '0.0.0.0'],
    ['this network, another', '0.1.2.3'],
    ['private 10', '10.255.255.255'],
    ['carrier NAT, its first', '100.64.0.0'],
    ['carrier NAT, its last', '100.127.255.255'],
    ['a metadata service in carrier NAT', '100.100.100.200'],
    ['loopback', '127.0.0.1'],
    ['loopback, its last', '127.255.255.254'],
    ['link-local', '169.254.0.1'],
    ['the metadata service', '169.254.169.254'],
    ['private 172, its first', '172.16.0.0'],
    ['private 172, its last', '172.31.255.255'],
    ['protocol assignments', '192.0.0.192'],
    ['private 192', '192.168.1.1'],
    ['benchmarking', '198.19.0.1'],
    ['documentation', '203.0.113.9'],
    ['multicast', '224.0.0.1'],
    ['reserved', '240.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['the wire server of a cloud', '168.63.129.16'],
    ['IPv6 unspecified', '::'],
    ['IPv6 loopback', '::1'],
    ['IPv6 loopback written out', '0:0:0:0:0:0:0:1'],
    ['mapped loopback', '::ffff:127.0.0.1'],
    ['mapped loopback in hexadecimal', '::ffff:7f00:1'],
    ['mapped, of a public address', '::ffff:8.8.8.8'],
    ['IPv4-compatible', '::127.0.0.1'],
    ['translated', '::ffff:0:127.0.0.1'],
    ['NAT64', '64:ff9b::7f00:1'],
    ['local NAT64', '64:ff9b:1::a00:1'],
    ['discard only', '100::1'],
    ['Teredo', '2001::1'],
    ['documentation of IPv6', '2001:db8::1'],
    ['6to4 of loopback', '2002:7f00:1::'],
    ['unique-local', 'fd00:ec2::254'],
    ['unique-local, its first', 'fc00::'],
    ['link-local of IPv6', 'fe80::1'],
    ['link-local with a zone', 'fe80::1%lo'],
    ['a public one with a zone', '2606:4700::1%lo'],
    ['site-local', 'fec0::1'],
    ['multicast of IPv6', 'ff02::1'],
    ['a name', 'localhost'],
    ['nothing', ''],
    ['a decimal number', '2130706433'],
    ['octal parts', '0177.0.0.1'],
  ])('[REQ-WEB-2] %s (%s) is not public', (_name, address) => {
    expect(isPublicAddress(address)).toBe(false)
  })

  it.each(['8.8.8.8', '1.1.1.1', '100.63.255.255', '100.128.0.0', '172.15.255.255', '172.32.0.0', '9.255.255.255'])(
    '[REQ-WEB-2] %s just outside is public',
    (address) => {
      expect(isPublicAddress(address)).toBe(true)
    },
  )

  it.each(['2606:4700:4700::1111', '2a00:1450:4001:80b::200e', '2001:4860:4860::8888'])(
    '[REQ-WEB-2] %s is public',
    (address) => {
      expect(isPublicAddress(address)).toBe(true)
    },
  )

  it("[REQ-WEB-2] the machine's own addresses are not public", () => {
    const own = Object.values(networkInterfaces()).flatMap((some) => some?.map(({ address }) => address) ?? [])
    expect(own.length).toBeGreaterThan(0)
    expect(own.filter(isPublicAddress)).toEqual([])
  })
})

describe('what may be asked', () => {
  const HOSTS = [
    'docs.example.org',
    '*.wiki.example',
    'api.example.org:8443',
    'plain.example:80',
    '127.0.0.1',
    'UPPER.example',
  ]
  const judged = (url: string) => {
    const target = readTarget(url, HOSTS)
    return target.ok ? target.url.href : target.isMalformed ? 'malformed' : 'refused'
  }

  it.each([
    ['another host', 'https://evil.example/'],
    ['a name that ends alike', 'https://evildocs.example.org/'],
    ['a name below one that is listed by itself', 'https://a.docs.example.org/'],
    ['a name that begins alike', 'https://docs.example.org.evil.example/'],
    ['a listed name as user', 'https://docs.example.org@evil.example/'],
    ['a user and a listed host', 'https://a@docs.example.org/'],
    ['a password and a listed host', 'https://:b@docs.example.org/'],
    ['a port that is not listed', 'https://docs.example.org:8443/'],
    ['a default port of the other protocol', 'http://docs.example.org:443/'],
    ['no port where one is listed', 'https://api.example.org/'],
    ['another port than the one listed', 'https://api.example.org:9443/'],
    ['the listed port 80 over https', 'https://plain.example/'],
    ['the name of a wildcard itself', 'https://wiki.example/'],
    ['a wildcard in the address', 'https://*.wiki.example.evil/'],
    ['a name with a dot at its end', 'https://docs.example.org./'],
    ['a backslash before a listed name', 'https://evil.example\\@docs.example.org/'],
    ['loopback in IPv6', 'http://[::1]/'],
    ['mapped loopback', 'http://[::ffff:127.0.0.1]/'],
  ])('[REQ-WEB-1] %s is refused', (_name, url) => {
    expect(judged(url)).toBe('refused')
  })

  it.each([
    ['another protocol', 'ftp://docs.example.org/'],
    ['a file', 'file:///etc/passwd'],
    ['data', 'data:text/plain,hi'],
    ['no address', 'docs.example.org'],
    ['nothing', ''],
    ['a tab in the name', 'https://docs.exa\tmple.org/'],
    ['a line break at the end', 'https://docs.example.org/\n'],
    ['a NUL', 'https://docs.example.org/\0'],
    ['too much', `https://docs.example.org/${'a'.repeat(4096)}`],
  ])('[REQ-WEB-1] %s is malformed', (_name, url) => {
    expect(judged(url)).toBe('malformed')
  })

  it.each([
    ['https://docs.example.org/a?b#c', 'https://docs.example.org/a?b'],
    ['http://DOCS.example.org:80/', 'http://docs.example.org/'],
    ['https://a.b.wiki.example/', 'https://a.b.wiki.example/'],
    ['https://api.example.org:8443/x', 'https://api.example.org:8443/x'],
    ['http://plain.example/', 'http://plain.example/'],
    ['https://upper.example/', 'https://upper.example/'],
  ])('[REQ-WEB-1] %s may be asked', (url, asked) => {
    expect(judged(url)).toBe(asked)
  })

  it.each(['http://2130706433/', 'http://0x7f000001/', 'http://0177.0.0.1/', 'http://127.1/', 'http://127.0.0.1/'])(
    '[REQ-WEB-1] %s is the address it means, whatever it looks like',
    (url) => {
      expect(judged(url)).toBe('http://127.0.0.1/')
    },
  )
})
