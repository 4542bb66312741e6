// Records the first minute with Belfry as an animated picture of a terminal, from a real run: `node scripts/record-walk.mjs`
// writes docs/images/first-call.svg. Credentials are shortened, and pauses are at most two seconds long.
import { execFileSync, fork } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { bootstrap } from './bootstrap.mjs'

const root = resolve(fileURLToPath(import.meta.url), '../..')
const columns = 96
const maxPauseMs = 2000

bootstrap()
const { bundleAll } = await import('./bundle.mjs')
await bundleAll()
writeFileSync(join(root, 'docs/images/first-call.svg'), draw(shorten(await record())))

/** Runs Belfry and the commands, and returns each line with the time at which it appeared. */
async function record() {
  const dataDir = mkdtempSync(join(tmpdir(), 'belfry-walk-'))
  const beganAt = performance.now()
  const lines = []
  const show = (text, kind = 'output') => lines.push({ text, kind, atMs: performance.now() - beganAt })
  show('npm start', 'command')
  const settings = { PATH: process.env.PATH, DATA_DIR: dataDir, PORT: '3000' }
  const launcher = fork(join(root, 'programs/launcher/dist/main.mjs'), {
    env: settings,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  let output = ''
  launcher.stdout.setEncoding('utf8').on('data', text => (output += text))
  await until(() => output.includes('Ctrl-C stops everything'))
  const wanted = /^(Belfry is running| {2}(Sign in|API key|Receiver) )/
  for (const line of output.split('\n').filter(text => wanted.test(text))) show(line)
  const find = pattern => pattern.exec(output)?.[1] ?? ''
  const receiver = find(/Receiver +(\S+)/)
  const env = { ...process.env, BELFRY_API_KEY: find(/API key +(\S+)/), BELFRY_URL: find(/running at (\S+)/) }
  const belfry = (...args) => {
    show(`belfry ${args.map(word => (/[{ *]/.test(word) ? `'${word}'` : word)).join(' ')}`, 'command')
    const printed = execFileSync(process.execPath, [join(root, 'programs/cli/dist/main.mjs'), ...args], {
      env,
      encoding: 'utf8',
    })
    for (const line of printed.trimEnd().split('\n')) show(line)
  }
  await sleep(1500)
  belfry('schedule', `${receiver}/hello`, '--in', '3s', '--data', '{"hello":"world"}')
  await until(() => output.includes(' received POST /hello'))
  show(
    output.split('\n').find(line => line.includes(' received POST /hello')),
    'received',
  )
  await sleep(1500)
  belfry('cron', 'create', `${receiver}/report`, '--cron', '0 2 * * *', '--timezone', 'Europe/Berlin')
  await sleep(1500)
  belfry('list')
  launcher.send('stop')
  await until(() => launcher.exitCode !== null)
  rmSync(dataDir, { recursive: true })
  return lines
}

async function until(condition) {
  const giveUpAt = performance.now() + 60_000
  while (!condition()) {
    if (performance.now() > giveUpAt) throw new Error('A step of the walk took more than a minute.')
    await sleep(20)
  }
}

function shorten(lines) {
  let lastMs = 0
  let shownMs = 500
  return lines.map(({ text, kind, atMs }) => {
    shownMs += Math.min(atMs - lastMs, maxPauseMs)
    lastMs = atMs
    const masked = text
      .replace(/(bf_\w{4})\w+/, '$1...')
      .replace(/(admin@belfry\.local +)\S+/, '$1...')
      .replace(/postgres:\w+@/, 'postgres:...@')
    return { text: masked.length > columns ? `${masked.slice(0, columns - 3)}...` : masked, kind, atMs: shownMs }
  })
}

function draw(lines) {
  const [width, lineHeight, top] = [840, 20, 44]
  const height = top + lines.length * lineHeight + 16
  const rows = lines.map(({ text, kind, atMs }, i) => {
    const shown = kind === 'command' ? `<tspan class="prompt">$ </tspan>${xml(text)}` : xml(text)
    const place = `x="20" y="${top + i * lineHeight + 12}" xml:space="preserve"`
    return `  <text class="line ${kind}" style="animation-delay:${Math.round(atMs)}ms" ${place}>${shown}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title">
  <title id="title">A terminal: Belfry starts, a call is scheduled and arrives three seconds later, and a cron job is created.</title>
  <style>
    text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #d1d5db }
    .line { opacity: 0; animation: appear 1ms linear forwards }
    .command { fill: #ffffff; font-weight: 600 }
    .prompt { fill: #74c9b9 }
    .received { fill: #74c9b9 }
    @keyframes appear { to { opacity: 1 } }
    @media (prefers-reduced-motion: reduce) { .line { opacity: 1; animation: none } }
  </style>
  <rect width="${width}" height="${height}" rx="10" fill="#16181d"/>
  <g fill="#3f444f"><circle cx="24" cy="20" r="6"/><circle cx="44" cy="20" r="6"/><circle cx="64" cy="20" r="6"/></g>
${rows.join('\n')}
</svg>
`
}

function xml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
