import { describe, expect, it } from 'vitest'
import { checkTargetUrl, parseUrl } from './target-url.ts'

const base = 'https://example.com/'

describe('checkTargetUrl', () => {
  it.each([
    'https://example.com',
    'http://example.com:8080/a/b?c=d&e=%20#'.slice(0, -1),
    'HTTPS://EXAMPLE.COM/hook',
    'https://example.com/a b',
    'https://example.com?to=user@example.com',
    'https://example.com/@user',
    'https://münchen.example/ä',
    'http://127.0.0.1:3000/',
    'http://[::1]:3000/',
    'https://example.com/{{ secrets.TOKEN }}',
    'https://example.com/a?b={{secrets.TOKEN}}&c={{ secrets.C }}',
    '{{ secrets.WHOLE_URL }}',
    '{{ secrets.BASE }}/path?x=1',
    'https://{{ secrets.HOST }}/path',
    'https://api.{{ secrets.DOMAIN }}:{{ secrets.PORT }}/path',
    base + 'a'.repeat(2048 - base.length),
  ])('accepts %j', text => {
    expect(checkTargetUrl(text)).toBeNull()
  })

  it.each([
    ['', 'absolute'],
    ['{{ secrets.lower }}', 'capital letters'],
    ['https://example.com/{{ secrets. }}', 'capital letters'],
    ['https://{{ secrets.USER }}@example.com/', 'user name'],
    ['https://example.com/#{{ secrets.PART }}', 'fragment'],
    ['ftp://{{ secrets.HOST }}/', 'absolute'],
    ['example.com', 'absolute'],
    ['//example.com/', 'absolute'],
    ['/hook', 'absolute'],
    ['http:example.com', 'absolute'],
    ['http:/example.com', 'absolute'],
    ['http:///example.com', 'absolute'],
    ['ftp://example.com/', 'absolute'],
    ['file:///etc/passwd', 'absolute'],
    ['javascript:alert(1)', 'absolute'],
    ['data:text/plain,x', 'absolute'],
    ['unix:/var/run/docker.sock', 'absolute'],
    ['http://', 'absolute'],
    ['http://?a', 'not valid'],
    ['http://:80/', 'not valid'],
    ['http://example.com:65536/', 'not valid'],
    ['http://example.com:25/', 'port 25'],
    ['https://example.com:6667/', 'port 6667'],
    ['http://example.com:x/', 'not valid'],
    ['http://[127.0.0.1]/', 'not valid'],
    ['http://[::1%25lo]/', 'not valid'],
    ['http://exa mple.com/', 'not valid'],
    ['http://a%00b.com/', 'not valid'],
    ['https://user@example.com/', 'user name'],
    ['https://user:secret@example.com/', 'user name'],
    ['https://@example.com/', 'user name'],
    ['https://:@example.com/', 'user name'],
    ['http://a@b@c/', 'user name'],
    ['https://example.com/#part', 'fragment'],
    ['https://example.com/#', 'fragment'],
    ['https://example.com\\@evil.com/', 'backslash'],
    ['https:\\\\example.com/', 'backslash'],
    [' https://example.com/', 'white space'],
    ['https://example.com/ ', 'white space'],
    ['https://example.com/\u00a0', 'white space'],
    ['https://exam\nple.com/', 'control'],
    ['https://exam\tple.com/', 'control'],
    ['https://example.com/\r\nX: y', 'control'],
    ['https://example.com/\0', 'control'],
    ['https://example.com/\u0085', 'control'],
    ['https://example.com/\ud800', 'control'],
    [base + 'a'.repeat(2049 - base.length), '2048'],
  ])('refuses %j', (text, reason) => {
    expect(checkTargetUrl(text)).toContain(reason)
  })
})

it('parses only URLs', () => {
  expect(parseUrl('https://example.com/a?b#c')?.pathname).toBe('/a')
  for (const text of ['', 'example.com', 'https://', 'https://a b/']) expect(parseUrl(text)).toBeNull()
})

it('accepts letters beyond ASCII after any number of calls', () => {
  for (let i = 0; i < 20_000; i++) expect(parseUrl('https://münchen.example/ä')?.host).toBe('xn--mnchen-3ya.example')
})
