import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { run } from './run.ts'

/** Returns what bash completes for each command line; the last word is the one to complete. */
async function complete(...lines: string[][]): Promise<string[][]> {
  const { code, out } = await run(['completion', 'bash'], {})
  expect(code).toBe(0)
  const quoted = (words: string[]) => words.map(word => `'${word}'`).join(' ')
  const tries = lines.map(
    words => `COMP_WORDS=(belfry ${quoted(words)}); COMP_CWORD=${words.length}; _belfry; echo "\${COMPREPLY[*]}"`,
  )
  const printed = execFileSync('bash', ['--norc', '-c', [out, ...tries].join('\n')], { encoding: 'utf8' })
  return printed
    .replace(/\n$/, '')
    .split('\n')
    .map(line => line.split(' ').filter(Boolean))
}

it('completes commands, options and choices in bash', async () => {
  const [commands, verbs, alias, options, choices, global, after, file] = await complete(
    ['s'],
    ['cron', ''],
    ['cronjobs', 'pre'],
    ['cron', 'create', 'https://example.com', '--c'],
    ['cron', 'create', '--overlap', ''],
    ['import', 'qstash', '--js'],
    ['--json', 'queues', 'pa'],
    ['import', 'qstash', 'schedules'],
  )
  expect(commands).toEqual(expect.arrayContaining(['schedule', 'show', 'stop', 'secrets', 'status', 'schema']))
  expect(verbs).toEqual(expect.arrayContaining(['preview', 'create', 'list', 'pause', 'resume', 'trigger', 'delete']))
  expect([alias, choices, global, after, file]).toEqual([['preview'], ['allow', 'skip'], ['--json'], ['pause'], []])
  expect(options).toEqual(expect.arrayContaining(['--cron', '--catch-up', '--connection', '--content-type']))
})

it('has scripts for zsh and fish, and refuses other shells', async () => {
  expect((await run(['completion', 'zsh'], {})).out).toMatch(/^autoload -U \+X bashcompinit/)
  expect((await run(['completion', 'fish'], {})).out).toContain(
    "case ' cron create --overlap'\n      printf '%s\\n' allow skip",
  )
  expect(await run(['completion', 'powershell'], {})).toMatchObject({
    code: 2,
    error: expect.stringContaining('bash, zsh, fish'),
  })
})
