import { createHmac } from 'node:crypto'

export interface Opened {
  readonly head: string
  readonly payload: string
  readonly signature: string
  readonly header: Readonly<Record<string, unknown>>
  readonly claims: Readonly<Record<string, unknown>>
}

export function opened(token: string): Opened {
  const [head = '', payload = '', signature = ''] = token.split('.')
  const json = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as Opened['header']
  return { head, payload, signature, header: json(head), claims: json(payload) }
}

export function part(value: unknown): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
}

export function signed(header: unknown, claims: unknown, secret: string, hash = 'sha256'): string {
  const body = `${part(header)}.${part(claims)}`
  return `${body}.${createHmac(hash, secret).update(body).digest('base64url')}`
}

/** Signs two parts as they are, however they are spelled. */
export function signedParts(head: string, payload: string, secret: string): string {
  return `${head}.${payload}.${createHmac('sha256', secret).update(`${head}.${payload}`).digest('base64url')}`
}

/** What a lenient reader of HS256 would say of the signature: Node decodes base64 with padding, spaces and unused bits. */
export function isSignedFor(token: string, secret: string): boolean {
  const [head = '', payload = '', signature = ''] = token.split('.')
  const given = Buffer.from(signature, 'base64')
  return given.equals(createHmac('sha256', secret).update(`${head}.${payload}`).digest())
}

/** The same bytes with one of the bits set that base64url does not use. */
export function withUnusedBits(text: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const last = alphabet.indexOf(text.at(-1) ?? '')
  return `${text.slice(0, -1)}${alphabet[last ^ 1] ?? ''}`
}

export interface Vector {
  readonly name: string
  readonly token: string
  /** Whether a lenient reader finds the signature right: then it is strictness alone that refuses the token. */
  readonly isSigned: boolean
}

/** Everything that can be done to a token without changing whom it speaks for. */
export function vectorsOf(token: string, secret: string, about: { readonly otherTyp: string }): readonly Vector[] {
  const { head, payload, signature, header, claims } = opened(token)
  const { alg: _alg, ...noAlg } = header
  const { typ: _typ, ...noTyp } = header
  const { kid: _kid, ...noKid } = header
  const under = (other: unknown): string => signed(other, claims, secret)
  const saying = (other: unknown): string => signed(header, other, secret)
  const text = JSON.stringify(claims)
  const tokens: Readonly<Record<string, string>> = {
    'alg none without signature': `${part({ ...header, alg: 'none' })}.${payload}.`,
    'alg none with the old signature': `${part({ ...header, alg: 'none' })}.${payload}.${signature}`,
    ...Object.fromEntries(
      ['none', 'None', 'NONE', '', 'hs256', 'HS256 ', 'HS384', 'HS512', 'RS256', 'ES256', 'PS256', 'EdDSA', 'dir'].map(
        (alg) => [`alg ${JSON.stringify(alg)}, signed`, under({ ...header, alg })],
      ),
    ),
    'alg HS384 with its own hash': signed({ ...header, alg: 'HS384' }, claims, secret, 'sha384'),
    'alg HS512 with its own hash': signed({ ...header, alg: 'HS512' }, claims, secret, 'sha512'),
    'alg null': under({ ...header, alg: null }),
    'alg as a list': under({ ...header, alg: ['HS256'] }),
    'no alg': under(noAlg),
    'no typ': under(noTyp),
    'no kid': under(noKid),
    'typ JWT': under({ ...header, typ: 'JWT' }),
    'typ in capitals': under({ ...header, typ: String(header.typ).toUpperCase() }),
    'typ with a media type before it': under({ ...header, typ: `application/${String(header.typ)}` }),
    'the typ of the other kind': under({ ...header, typ: about.otherTyp }),
    'another kid': under({ ...header, kid: '0'.repeat(16) }),
    'kid as a path': under({ ...header, kid: '../../../dev/null' }),
    'kid as SQL': under({ ...header, kid: "x' UNION SELECT 'k" }),
    'kid __proto__': under({ ...header, kid: '__proto__' }),
    'kid as a number': under({ ...header, kid: 1 }),
    'a jwk': under({ ...header, jwk: { kty: 'oct', k: part(secret) } }),
    'a jku': under({ ...header, jku: 'https://evil.example/keys' }),
    'an x5u': under({ ...header, x5u: 'https://evil.example/cert' }),
    'an x5c': under({ ...header, x5c: ['MIIB'] }),
    'a crit': under({ ...header, crit: ['exp'] }),
    'an empty crit': under({ ...header, crit: [] }),
    'a zip': under({ ...header, zip: 'DEF' }),
    'b64 false': under({ ...header, b64: false, crit: ['b64'] }),
    'a cty': under({ ...header, cty: 'JWT' }),
    'a header key twice': signedParts(part(`{"alg":"none",${JSON.stringify(header).slice(1)}`), payload, secret),
    'a claim twice': saying(`{"iat":0,${text.slice(1)}`),
    'a claim twice, the last one counts': saying(`${text.slice(0, -1)},"sub":${JSON.stringify(claims.sub)}}`),
    'a prototype claim': saying(`${text.slice(0, -1)},"__proto__":{"admin":true},"__proto__":1}`),
    'a header that is a list': signedParts(part('["HS256"]'), payload, secret),
    'a header that is null': signedParts(part('null'), payload, secret),
    'claims that are a list': saying('[]'),
    'claims that are a text': saying('"x"'),
    'claims that are no JSON': saying(text.slice(0, -1)),
    'claims with a space': saying(text.replace(':', ': ')),
    'claims with a line break': saying(`${text}\n`),
    'claims with a byte order mark': saying(`\ufeff${text}`),
    'claims with an escaped letter': saying(text.replace('"iss"', '"\\u0069ss"')),
    'claims with a number spelled otherwise': saying(text.replace(/"exp":(\d+)/, '"exp":$1.0')),
    'claims with an exponent': saying(text.replace(/"iat":(\d+)/, '"iat":$1e0')),
    'a header with a space': signedParts(part(JSON.stringify(header, null, 1)), payload, secret),
    'another issuer': saying({ ...claims, iss: 'evil' }),
    'the issuer in capitals': saying({ ...claims, iss: 'Phaselock' }),
    'another audience': saying({ ...claims, aud: 'phaselock:operator' }),
    'the audience in a list': saying({ ...claims, aud: [claims.aud] }),
    'an empty jti': saying({ ...claims, jti: '' }),
    'no signature': `${head}.${payload}.`,
    'no signature and no dot': `${head}.${payload}`,
    'a short signature': `${head}.${payload}.${signature.slice(0, 22)}`,
    'the signature twice': `${token}${signature}`,
    'the signature of another key': signed(header, claims, 'x'.repeat(64)),
    'the signature of an empty key': signed(header, claims, ''),
    'the signature of the kid': signed(header, claims, String(header.kid)),
    'a flipped bit in the signature': `${head}.${payload}.${signature[0] === 'A' ? 'B' : 'A'}${signature.slice(1)}`,
    'unused bits in the signature': `${head}.${payload}.${withUnusedBits(signature)}`,
    'padding on the signature': `${token}=`,
    'padding on the header, signed so': signedParts(`${head}=`, payload, secret),
    'padding on the claims, signed so': signedParts(head, `${payload}=`, secret),
    'the other base64 alphabet': `${head}.${payload}.${signature.replaceAll('-', '+').replaceAll('_', '/')}+`,
    'a plus in the claims, signed so': signedParts(head, `${payload}+`, secret),
    'four parts': `${token}.${signature}`,
    'an empty part before': `.${token}`,
    'an empty part after': `${token}.`,
    'two dots': '..',
    nothing: 'x',
    'more than 8 KiB': saying({ ...claims, allowed_tools: ['x'.repeat(9000)] }),
    'five parts, as if encrypted': `${head}..${payload}.${signature}.${signature}`,
    'JSON serialisation': JSON.stringify({ payload, protected: head, signature }).replaceAll(' ', ''),
  }
  return Object.entries(tokens).map(([name, one]) => ({ name, token: one, isSigned: isSignedFor(one, secret) }))
}

/** Spellings that no header can carry: they are sent in the body. */
export function spacedVectors(token: string, secret: string): readonly Vector[] {
  const { head, payload, signature } = opened(token)
  const tokens = [' ', '\t', '\n', '\r\n', '\u00a0', '\ufeff', '\u200b', '\0'].flatMap((space) => [
    [`${JSON.stringify(space)} before`, `${space}${token}`],
    [`${JSON.stringify(space)} after`, `${token}${space}`],
    [
      `${JSON.stringify(space)} in the signature`,
      `${head}.${payload}.${signature.slice(0, 9)}${space}${signature.slice(9)}`,
    ],
    [`${JSON.stringify(space)} in the header, signed so`, signedParts(`${head}${space}`, payload, secret)],
    [`${JSON.stringify(space)} in the claims, signed so`, signedParts(head, `${space}${payload}`, secret)],
  ])
  return tokens.map(([name = '', one = '']) => ({ name, token: one, isSigned: isSignedFor(one, secret) }))
}

const OF_EACH_KIND: readonly unknown[] = [null, true, 7, 1.5, -1, 'text', '', [], ['a'], {}, { a: 1 }]

/** Each claim missing and of each wrong kind, signed with the right secret. */
export function claimVectors(token: string, secret: string): readonly Vector[] {
  const { header, claims } = opened(token)
  return Object.entries(claims).flatMap(([name, right]) => {
    const { [name]: _gone, ...rest } = claims
    const wrong = OF_EACH_KIND.filter((value) => kindOf(value) !== kindOf(right))
    return [
      { name: `no ${name}`, token: signed(header, rest, secret), isSigned: true },
      ...wrong.map((value) => ({
        name: `${name} is ${JSON.stringify(value)}`,
        token: signed(header, { ...claims, [name]: value }, secret),
        isSigned: true,
      })),
    ]
  })
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'list'
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'integer' : 'number'
  return value === null ? 'null' : typeof value
}
