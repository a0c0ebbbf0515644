// Spellings of this machine as the host of a URL: every form of an IPv4 address that a URL may have, IPv6 with an IPv4 address
// inside it, and names.

const ipv4 = ['127.0.0.1', '127.0.0.2', '127.255.255.254', '0.0.0.0']

/** Decimal, octal and hexadecimal parts, and the last parts as one number. */
function spelledIpv4(address: string): string[] {
  const parts = address.split('.').map(Number)
  const [a = 0, b = 0, c = 0, d = 0] = parts
  const whole = ((a * 256 + b) * 256 + c) * 256 + d
  const shapes = [parts, [a, b, c * 256 + d], [a, (b * 256 + c) * 256 + d], [whole]]
  const bases: ((part: number) => string)[] = [
    String,
    (part) => `0x${part.toString(16)}`,
    (part) => `0X${part.toString(16).toUpperCase()}`,
    (part) => `0${part.toString(8)}`,
  ]
  return shapes.flatMap((shape) => bases.map((spelled) => shape.map(spelled).join('.')))
}

function spelledIpv6(address: string): string[] {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number)
  const hex = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
  const inner = [`::ffff:${address}`, `::FFFF:${hex}`, `0:0:0:0:0:ffff:${hex}`, `::${address}`, `64:ff9b::${hex}`]
  return [...inner, `2002:${hex}::`].map((one) => `[${one}]`)
}

const names = [
  'localhost',
  'LOCALHOST',
  'LocalHost',
  'localhost.',
  '%6cocalhost',
  '\uFF4Cocalhost',
  '\u24DBocalhost',
  'ip6-localhost',
  'ip6-loopback',
]

const others = [
  '127.0.0.1.',
  '127%2e0%2e0%2e1',
  '127\u30020\uFF0E0.1',
  '\u2460\u2461\u2466.\u24EA.\u24EA.\u2460',
  '00000177.0.0.1',
  '0x0000007f.1',
  '017700000001.',
  '[::1]',
  '[::]',
  '[0:0:0:0:0:0:0:1]',
  '[0000:0000:0000:0000:0000:0000:0000:0001]',
  '[::0001]',
]

/** Each once. */
export const loopbackSpellings: readonly string[] = [
  ...new Set([...ipv4.flatMap((one) => [...spelledIpv4(one), ...spelledIpv6(one)]), ...names, ...others]),
]
