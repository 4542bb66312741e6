// Each leads to an address that is not public, as some URL parser or resolver reads it.
const hosts = [
  ...['127.0.0.1', '127.0.0.1.', '127.1', '127.0.1', '127.000.000.001', '127.0.0.2', '127.255.255.254', '0.0.0.0', '0'],
  ...['2130706433', '2130706433.', '0x7f000001', '0X7F000001', '0x7f.1', '0x7f.0x0.0x0.0x1', '0x7f.0.0.1', '0x0', '00'],
  ...[
    '0177.0.0.1',
    '0177.1',
    '017700000001',
    '00000177.0.0.1',
    '%31%32%37.0.0.1',
    '127%2e0%2e0%2e1',
    '1\u00ad27.0.0.1',
  ],
  ...['①②⑦.⓪.⓪.①', '１２７.０.０.１', '127。0。0。1', '127．0．0．1', '127｡0｡0｡1', '𝟏𝟐𝟕.0.0.1'],
  ...['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'a.b.LocalHost.', 'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ', 'ｌｏｃａｌｈｏｓｔ'],
  ...['[::1]', '[::]', '[0:0:0:0:0:0:0:1]', '[0000:0000:0000:0000:0000:0000:0000:0001]', '[::0.0.0.1]'],
  ...['[::ffff:127.0.0.1]', '[::FFFF:7F00:1]', '[0:0:0:0:0:ffff:7f00:1]', '[::ffff:0.0.0.0]', '[::ffff:10.0.0.1]'],
  ...['[::127.0.0.1]', '[::7f00:1]', '[::ffff:0:127.0.0.1]', '[::ffff:169.254.169.254]'],
  ...['[64:ff9b::127.0.0.1]', '[64:ff9b::a9fe:a9fe]', '[64:ff9b:1::7f00:1]', '[2002:7f00:1::]', '[2002:a00:1::1]'],
  ...['[2001:0:7f00:1::]', '[2001::5ef5:79fd]', '[fe80::1]', '[fec0::1]', '[fc00::1]', '[fd12:3456::1]', '[ff02::1]'],
  ...['[100::1]', '[5f00::1]', '[2001:db8::1]', '[3fff::1]', '[4000::1]', '[fd00:ec2::254]', '[fd20:ce::254]'],
  ...[
    '10.0.0.1',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.0.1',
    '100.64.0.1',
    '192.0.2.1',
    '198.18.0.1',
    '203.0.113.1',
  ],
  ...['224.0.0.1', '240.0.0.1', '255.255.255.255', '4294967295', '037777777777', '0x0a000001', '167772161', '012.1'],
  ...['169.254.169.254', '2852039166', '0xa9fea9fe', '0251.0376.0251.0376', '169.254.43518', '169.254.170.2'],
  ...['100.100.100.200', '168.63.129.16', '192.0.0.192'],
]

// What comes before the host is only a name for whoever calls, however much it looks like a host.
const userinfo = ['user@', 'user:password@', '@', ':@', 'example.com@', 'example.com:80@', 'example.com%2f@', 'a@b@']

/** URLs that lead to private addresses at a port, in more than 100 spellings: none of them may be accepted or called. */
export function privateUrls(port: number): string[] {
  const schemes = ['http', 'https', 'HTTP']
  const plain = hosts.map((host, index) => `${schemes[index % schemes.length]}://${host}:${port}/`)
  const disguised = userinfo.map(user => `http://${user}127.0.0.1:${port}/`)
  const broken = [`http://127.0.0.1:${port}\\@example.com/`, `http:\\\\127.0.0.1:${port}/`, `http:127.0.0.1:${port}/`]
  return [
    ...plain,
    ...disguised,
    ...broken,
    `http:/127.0.0.1:${port}/`,
    `http:///127.0.0.1:${port}/`,
    ` http://127.0.0.1:${port}/`,
  ]
}
