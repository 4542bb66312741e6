/** The options of curl that define the request, with their short names. */
export const understood: Readonly<Record<string, string>> = {
  request: 'X',
  header: 'H',
  data: 'd',
  'data-ascii': '',
  'data-binary': '',
  'data-raw': '',
  'data-urlencode': '',
  json: '',
  get: 'G',
  head: 'I',
  url: '',
  user: 'u',
  'oauth2-bearer': '',
  'user-agent': 'A',
  referer: 'e',
  cookie: 'b',
  'max-time': 'm',
  retry: '',
  'retry-delay': '',
  // They control curl's output.
  silent: 's',
  'show-error': 'S',
  fail: 'f',
  verbose: 'v',
  include: 'i',
  output: 'o',
  'remote-name': 'O',
  'write-out': 'w',
  'no-buffer': 'N',
  'progress-bar': '#',
  globoff: 'g',
  location: 'L',
  insecure: 'k',
  ipv4: '4',
  ipv6: '6',
}

/** Options that are ignored. A text is a note about a difference. */
export const tolerated: Readonly<Record<string, string>> = {
  location: 'redirects are not followed: they count as failures',
  insecure: 'certificates are checked',
  ipv4: 'the address family is not chosen',
  ipv6: 'the address family is not chosen',
  'connect-timeout': 'connecting has no time limit of its own',
  'retry-max-time': 'retries have no time limit of their own',
  'retry-all-errors': '',
  'retry-connrefused': '',
  'fail-with-body': '',
  'no-progress-meter': '',
  compressed: '',
  'http1.1': '',
  http2: '',
  'create-dirs': '',
}

/** Options with a value. */
export const takesValue: ReadonlySet<string> = new Set([
  ...['request', 'header', 'data', 'data-ascii', 'data-binary', 'data-raw', 'data-urlencode', 'json', 'url', 'user'],
  ...['oauth2-bearer', 'user-agent', 'referer', 'cookie', 'max-time', 'retry', 'retry-delay', 'output', 'write-out'],
  ...['connect-timeout', 'retry-max-time'],
])
