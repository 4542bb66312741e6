import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

// Understands what the printed commands say to curl, and nothing else.
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

/** The environment in which a user pastes a command. A machine with nothing but Node has no curl; it gets a stand-in. */
export function shellEnvironment(): NodeJS.ProcessEnv {
  if (spawnSync('curl', ['--version']).status === 0) return process.env
  const folder = mkdtempSync(join(tmpdir(), 'belfry-curl-'))
  writeFileSync(join(folder, 'curl'), standIn)
  chmodSync(join(folder, 'curl'), 0o755)
  return { ...process.env, PATH: `${folder}${delimiter}${process.env.PATH}` }
}
