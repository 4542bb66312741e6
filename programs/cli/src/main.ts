#!/usr/bin/env node

// Checked first, because an older Node could not even load the rest.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 12)) {
  console.error(
    `belfry needs Node 20.12 or newer; this is Node ${process.versions.node}. Get one from https://nodejs.org.`,
  )
  process.exit(1)
}
const { closedPipe } = await import('./context.ts')
const { runCli } = await import('./run-cli.ts')

const stop = new AbortController()
process.once('SIGINT', () => stop.abort())
process.once('SIGTERM', () => stop.abort())
process.stdout.on('error', error => {
  if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
  stop.abort(closedPipe)
})
process.exitCode = await runCli(process.argv.slice(2), {
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  signal: stop.signal,
})
