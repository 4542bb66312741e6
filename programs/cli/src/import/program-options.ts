/** The options of a program, by their long names. A name that ends in = takes a value. */
export type ProgramOptions = {
  program: string
  /** The options that define the request, with their short names. */
  understood: Readonly<Record<string, string>>
  /** Options that are ignored. A text is a note about a difference. */
  tolerated: Readonly<Record<string, string>>
}

export const curl: ProgramOptions = {
  program: 'curl',
  understood: {
    'request=': 'X',
    'header=': 'H',
    'data=': 'd',
    'data-ascii=': '',
    'data-binary=': '',
    'data-raw=': '',
    'data-urlencode=': '',
    'json=': '',
    get: 'G',
    head: 'I',
    'url=': '',
    'user=': 'u',
    'oauth2-bearer=': '',
    'user-agent=': 'A',
    'referer=': 'e',
    'cookie=': 'b',
    'max-time=': 'm',
    'retry=': '',
    'retry-delay=': '',
    // They control curl's output.
    silent: 's',
    'show-error': 'S',
    fail: 'f',
    verbose: 'v',
    include: 'i',
    'output=': 'o',
    'remote-name': 'O',
    'write-out=': 'w',
    'no-buffer': 'N',
    'progress-bar': '#',
    globoff: 'g',
    location: 'L',
    insecure: 'k',
    ipv4: '4',
    ipv6: '6',
  },
  tolerated: {
    location: 'redirects are not followed: they count as failures',
    insecure: 'certificates are checked',
    ipv4: 'the address family is not chosen',
    ipv6: 'the address family is not chosen',
    'connect-timeout=': 'connecting has no time limit of its own',
    'retry-max-time=': 'retries have no time limit of their own',
    'retry-all-errors': '',
    'retry-connrefused': '',
    'fail-with-body': '',
    'no-progress-meter': '',
    compressed: '',
    'http1.1': '',
    http2: '',
    'create-dirs': '',
    'tlsv1.2': '',
    'tlsv1.3': '',
    'proto=': '',
    'proto-redir=': '',
    'max-redirs=': '',
  },
}

/** The options of wget, with the options of curl that mean the same. */
export const wget: ProgramOptions & { sameInCurl: Readonly<Record<string, string>> } = {
  program: 'wget',
  understood: {
    ...{ 'header=': '', 'post-data=': '', 'body-data=': '', 'method=': '', 'referer=': '', 'user-agent=': 'U' },
    ...{ 'user=': '', 'password=': '', 'http-user=': '', 'http-password=': '', 'tries=': 't', 'timeout=': 'T' },
    ...{ 'inet4-only': '4', 'inet6-only': '6', 'no-check-certificate': '' },
    // They control wget's output and files.
    ...{ quiet: 'q', verbose: 'v', debug: 'd', 'server-response': 'S', background: 'b', 'output-document=': 'O' },
    ...{ 'output-file=': 'o', 'append-output=': 'a', 'directory-prefix=': 'P', continue: 'c', timestamping: 'N' },
    ...{ no: 'n', 'span-hosts': 'H' }, // -nv, -nc, -nd and -nH
  },
  tolerated: {
    spider: 'wget --spider sends HEAD; Belfry sends GET',
    'read-timeout=': 'reading has no time limit of its own',
    'connect-timeout=': 'connecting has no time limit of its own',
    'dns-timeout=': 'resolving names has no time limit of its own',
    ...{ 'no-verbose': '', 'no-cache': '', 'no-cookies': '', 'no-hsts': '', 'no-proxy': '', 'no-dns-cache': '' },
    ...{ 'delete-after': '', 'content-on-error': '', 'retry-connrefused': '', 'auth-no-challenge': '' },
    ...{ 'show-progress': '', 'no-clobber': '', 'keep-session-cookies': '', 'waitretry=': '', 'max-redirect=': '' },
  },
  sameInCurl: {
    ...{ header: 'header', 'post-data': 'data-raw', 'body-data': 'data-raw', method: 'request', timeout: 'max-time' },
    ...{ 'user-agent': 'user-agent', referer: 'referer', 'no-check-certificate': 'insecure' },
    ...{ 'inet4-only': 'ipv4', 'inet6-only': 'ipv6' },
  },
}
