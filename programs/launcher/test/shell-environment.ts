import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

// Supports only the options in the printed commands.
const standIn = `#!${process.execPath}
const headers = {}
let body
let url
for (const args = process.argv.slice(2); args.length > 0; ) {
  const arg = args.shift()
  if (arg === '-H') headers[args[0].slice(0, args[0].indexOf(':'))] = args.shift().replace(/^[^:]*: */, '')
  else if (arg === '-d') body = args.shift()
  else if (!arg.startsWith('-')) url = arg
}
fetch(url, { method: body === undefined ? 'GET' : 'POST', headers, body }).then(async response => console.log(await response.text()))
`

/** Returns the environment of a user's shell, with a stand-in for curl on machines without it. */
export function shellEnvironment(): NodeJS.ProcessEnv {
  if (spawnSync('curl', ['--version']).status === 0) return process.env
  const folder = mkdtempSync(join(tmpdir(), 'belfry-curl-'))
  writeFileSync(join(folder, 'curl'), standIn)
  chmodSync(join(folder, 'curl'), 0o755)
  return { ...process.env, PATH: `${folder}${delimiter}${process.env.PATH}` }
}
